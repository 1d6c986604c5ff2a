//===- BuildStep.cpp - Gradients, clipping, update ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "dist/Transforms/Passes.h"
#include "dist/Transforms/SignatureAttrs.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

namespace dist {
#define GEN_PASS_DEF_BUILDSTEP
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;
using nn::TensorBuilder;

namespace {
/// A parameter on its way through the step.
struct Parameter {
  StringAttr name;
  unsigned modelArg;
  bool isTrained = false, decays = true;
  Value value, grad;
  SmallVector<std::string, 2> stateNames;
  SmallVector<Value, 2> states;
  Value updated;
  SmallVector<Value, 2> updatedStates;
};

/// Scalars that every update reads, in one element type.
struct Scalars {
  Value clip, lr, finite, correction1, correction2;
};

/// Builds `@step` of `@loss_and_grad`.
class StepBuilder {
public:
  StepBuilder(ModuleOp module, func::FuncOp grad,
              const BuildStepOptions &options)
      : module(module), grad(grad), options(options), b(module.getContext()) {}

  void run();

private:
  void collectParameters();
  void createFunction();
  void inlineGradients();
  Value buildNorm(TensorBuilder &t);
  const Scalars &getScalars(Type element);
  void update(Parameter &param);
  void updateAdamW(TensorBuilder &t, Parameter &param, const Scalars &s,
                   Value g);
  void updateSgd(TensorBuilder &t, Parameter &param, const Scalars &s, Value g);
  void createReturn();
  unsigned addArg(Type type, NamedAttrList attrs);
  Type getWidestElement();

  ModuleOp module;
  func::FuncOp grad, step;
  const BuildStepOptions &options;
  OpBuilder b;
  SmallVector<Parameter> params;
  SmallVector<Type> argTypes;
  SmallVector<DictionaryAttr> argAttrs;
  llvm::DenseMap<unsigned, unsigned> newArgOf; ///< by argument of the model
  unsigned lrArg = 0, stepArg = 0;
  SmallVector<Value> losses; ///< the loss, then the metrics
  SmallVector<NamedAttribute> lossMarks;
  Value norm;
  llvm::DenseMap<Type, Scalars> scalars;
};
} // namespace

unsigned StepBuilder::addArg(Type type, NamedAttrList attrs) {
  argTypes.push_back(type);
  argAttrs.push_back(attrs.getDictionary(b.getContext()));
  return argTypes.size() - 1;
}

void StepBuilder::collectParameters() {
  for (unsigned arg = 0; arg < grad.getNumArguments(); ++arg) {
    auto name = grad.getArgAttrOfType<StringAttr>(arg, nn::kParamAttrName);
    if (!name)
      continue;
    Parameter param;
    param.name = name;
    param.modelArg = arg;
    param.isTrained = !grad.getArgAttr(arg, nn::kFrozenAttrName);
    param.decays = !grad.getArgAttr(arg, nn::kNoDecayAttrName);
    if (param.isTrained && options.optimizer == "adamw")
      param.stateNames = {("m:" + name.getValue()).str(),
                          ("v:" + name.getValue()).str()};
    else if (param.isTrained && options.momentum != 0)
      param.stateNames = {("m:" + name.getValue()).str()};
    params.push_back(std::move(param));
  }
}

/// What the rate and the norm are computed in: f32, or f64 where a trained
/// parameter is f64.
Type StepBuilder::getWidestElement() {
  bool isWide = llvm::any_of(params, [&](const Parameter &param) {
    Type type = grad.getArgumentTypes()[param.modelArg];
    return param.isTrained && getElementTypeOrSelf(type).isF64();
  });
  return isWide ? Type(b.getF64Type()) : Type(b.getF32Type());
}

void StepBuilder::createFunction() {
  SmallVector<unsigned> stateArgs;
  auto attrsOf = [&](unsigned arg) {
    return NamedAttrList(grad.getArgAttrDict(arg));
  };
  for (Parameter &param : params)
    newArgOf[param.modelArg] = addArg(grad.getArgumentTypes()[param.modelArg],
                                      attrsOf(param.modelArg));
  for (Parameter &param : params)
    for (const std::string &state : param.stateNames) {
      NamedAttrList attrs;
      attrs.set(nn::kStateAttrName, b.getStringAttr(state));
      if (Attribute sharding =
              grad.getArgAttr(param.modelArg, kShardingAttrName))
        attrs.set(kShardingAttrName, sharding);
      stateArgs.push_back(
          addArg(grad.getArgumentTypes()[param.modelArg], attrs));
    }
  for (StringRef kind : {nn::kInputAttrName, nn::kKeyAttrName})
    for (unsigned arg = 0; arg < grad.getNumArguments(); ++arg)
      if (grad.getArgAttr(arg, kind))
        newArgOf[arg] = addArg(grad.getArgumentTypes()[arg], attrsOf(arg));
  auto mark = [&](StringRef name) {
    NamedAttrList attrs;
    attrs.set(name, b.getUnitAttr());
    return attrs;
  };
  lrArg = addArg(RankedTensorType::get({}, getWidestElement()),
                 mark(nn::kLrAttrName));
  stepArg = addArg(RankedTensorType::get({}, b.getI64Type()),
                   mark(nn::kStepAttrName));

  b.setInsertionPoint(grad);
  step = func::FuncOp::create(b, grad.getLoc(), "step",
                              b.getFunctionType(argTypes, {}));
  step.setAllArgAttrs(argAttrs);
  step.addEntryBlock();
  for (auto [from, to] : newArgOf)
    step.getArgument(to).setLoc(grad.getArgument(from).getLoc());
  auto *state = stateArgs.begin();
  for (Parameter &param : params) {
    param.value = step.getArgument(newArgOf[param.modelArg]);
    for (size_t i = 0; i < param.stateNames.size(); ++i) {
      param.states.push_back(step.getArgument(*state++));
      param.states.back().setLoc(param.value.getLoc());
    }
  }
}

/// Copies the gradient program and takes its results apart.
void StepBuilder::inlineGradients() {
  IRMapping map;
  for (auto [from, to] : newArgOf)
    map.map(grad.getArgument(from), step.getArgument(to));
  b.setInsertionPointToStart(&step.getBody().front());
  Block &body = grad.getBody().front();
  for (Operation &op : body.without_terminator())
    b.clone(op, map);
  llvm::StringMap<Parameter *> paramOf;
  for (Parameter &param : params)
    paramOf[param.name] = &param;
  for (auto [index, operand] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    Value value = map.lookup(operand);
    auto attrs = grad.getResultAttrDict(index).getValue();
    if (auto name =
            grad.getResultAttrOfType<StringAttr>(index, nn::kGradAttrName)) {
      paramOf[name.getValue()]->grad = value;
      continue;
    }
    losses.push_back(value);
    lossMarks.push_back(attrs.front());
  }
}

/// √Σ‖g‖² over every trained parameter, in the widest element type.
Value StepBuilder::buildNorm(TensorBuilder &t) {
  Type element = getWidestElement();
  auto scalar = RankedTensorType::get({}, element);
  Value sum;
  for (Parameter &param : params) {
    if (!param.isTrained)
      continue;
    Value g = param.grad;
    if (getElementTypeOrSelf(g) != element)
      g = arith::ExtFOp::create(
          t, cast<RankedTensorType>(g.getType()).clone(element), g);
    Value squares = t.sumAll(t.mul(g, g));
    sum = sum ? t.add(sum, squares) : squares;
  }
  return t.sqrt(sum ? sum : t.zeros(scalar));
}

/// `value` in element type `element`, a float type.
static Value castTo(TensorBuilder &t, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned from = type.getElementTypeBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from < to)
    return arith::ExtFOp::create(t, type.clone(element), value);
  return arith::TruncFOp::create(t, type.clone(element), value);
}

const Scalars &StepBuilder::getScalars(Type element) {
  auto [it, isNew] = scalars.try_emplace(element);
  Scalars &s = it->second;
  if (!isNew)
    return s;
  TensorBuilder t(b, NameLoc::get(b.getStringAttr("norm"), step.getLoc()));
  auto scalar = RankedTensorType::get({}, element);
  s.finite = arith::CmpFOp::create(
      t, arith::CmpFPredicate::OLT, norm,
      t.constant(norm.getType(), std::numeric_limits<double>::infinity()));
  if (options.clipNorm > 0) {
    Value ratio =
        t.div(t.constant(norm.getType(), options.clipNorm), t.add(norm, 1e-6));
    Value clip =
        arith::MinimumFOp::create(t, t.constant(norm.getType(), 1.0), ratio);
    s.clip = castTo(t, clip, element);
  }
  s.lr = castTo(t, step.getArgument(lrArg), element);
  Value count = arith::SIToFPOp::create(t, scalar, step.getArgument(stepArg));
  auto correction = [&](double beta) -> Value {
    Value power = math::PowFOp::create(t, t.constant(scalar, beta), count);
    return t.div(t.constant(scalar, 1.0), t.sub(1.0, power));
  };
  if (options.optimizer == "adamw") {
    s.correction1 = correction(options.beta1);
    s.correction2 = correction(options.beta2);
  }
  return s;
}

/// Adam with decoupled weight decay (1412.6980, 1711.05101).
void StepBuilder::updateAdamW(TensorBuilder &t, Parameter &param,
                              const Scalars &s, Value g) {
  Type type = param.value.getType();
  Value m = t.add(t.mul(param.states[0], options.beta1),
                  t.mul(g, 1.0 - options.beta1));
  Value v = t.add(t.mul(param.states[1], options.beta2),
                  t.mul(t.mul(g, g), 1.0 - options.beta2));
  Value mHat = t.mul(m, t.splat(s.correction1, type));
  Value vHat = t.mul(v, t.splat(s.correction2, type));
  Value direction = t.div(mHat, t.add(t.sqrt(vHat), options.eps));
  if (param.decays && options.weightDecay != 0)
    direction = t.add(direction, t.mul(param.value, options.weightDecay));
  param.updated = t.sub(param.value, t.mul(t.splat(s.lr, type), direction));
  param.updatedStates = {m, v};
}

void StepBuilder::updateSgd(TensorBuilder &t, Parameter &param,
                            const Scalars &s, Value g) {
  Value direction = g;
  if (options.momentum != 0) {
    direction = t.add(t.mul(param.states[0], options.momentum), g);
    param.updatedStates = {direction};
  }
  if (param.decays && options.weightDecay != 0)
    direction = t.add(direction, t.mul(param.value, options.weightDecay));
  param.updated = t.sub(param.value,
                        t.mul(t.splat(s.lr, param.value.getType()), direction));
}

void StepBuilder::update(Parameter &param) {
  param.updated = param.value;
  if (!param.isTrained)
    return;
  const Scalars &s = getScalars(getElementTypeOrSelf(param.value));
  TensorBuilder t(b, NameLoc::get(b.getStringAttr(options.optimizer),
                                  param.value.getLoc()));
  Type type = param.value.getType();
  Value g = s.clip ? t.mul(param.grad, t.splat(s.clip, type)) : param.grad;
  if (options.optimizer == "adamw")
    updateAdamW(t, param, s, g);
  else
    updateSgd(t, param, s, g);
  // A norm that is not finite changes nothing.
  auto keepUnless = [&](Value fresh, Value old) {
    auto mask = cast<RankedTensorType>(type).clone(b.getI1Type());
    return t.select(t.splat(s.finite, mask), fresh, old);
  };
  param.updated = keepUnless(param.updated, param.value);
  for (auto [fresh, old] : llvm::zip_equal(param.updatedStates, param.states))
    fresh = keepUnless(fresh, old);
}

void StepBuilder::createReturn() {
  SmallVector<Value> results;
  SmallVector<NamedAttribute> marks;
  auto add = [&](Value value, StringRef mark, Attribute name) {
    results.push_back(value);
    marks.push_back(b.getNamedAttr(mark, name));
  };
  for (Parameter &param : params)
    add(param.updated, nn::kParamAttrName, param.name);
  for (Parameter &param : params)
    for (auto [name, value] :
         llvm::zip_equal(param.stateNames, param.updatedStates))
      add(value, nn::kStateAttrName, b.getStringAttr(name));
  add(losses.front(), lossMarks.front().getName(),
      lossMarks.front().getValue());
  add(norm, nn::kNormAttrName, b.getUnitAttr());
  for (auto [value, mark] :
       llvm::drop_begin(llvm::zip_equal(losses, lossMarks)))
    add(value, mark.getName(), mark.getValue());
  for (Parameter &param : params)
    if (param.isTrained)
      add(param.grad, nn::kGradAttrName, param.name);
  func::ReturnOp::create(b, step.getLoc(), results);
  step.setType(b.getFunctionType(argTypes, ValueRange(results).getTypes()));
  SignatureAttrs attrs(step);
  for (auto [index, mark] : llvm::enumerate(marks))
    attrs.setResult(index, mark.getName(), mark.getValue());
  attrs.write();
}

void StepBuilder::run() {
  collectParameters();
  createFunction();
  inlineGradients();
  TensorBuilder t(b, NameLoc::get(b.getStringAttr("norm"), step.getLoc()));
  norm = buildNorm(t);
  for (Parameter &param : params)
    update(param);
  createReturn();
  grad.erase();
  module->setAttr(kPhaseAttrName, b.getStringAttr("step"));
}

/// Parameters by name and whether they are frozen; checks that every argument
/// of `grad` has a role.
static LogicalResult collectNames(func::FuncOp grad,
                                  llvm::StringMap<bool> &isFrozen) {
  for (unsigned arg = 0; arg < grad.getNumArguments(); ++arg) {
    auto name = grad.getArgAttrOfType<StringAttr>(arg, nn::kParamAttrName);
    bool hasRole = name || grad.getArgAttr(arg, nn::kInputAttrName) ||
                   grad.getArgAttr(arg, nn::kKeyAttrName);
    if (!hasRole)
      return grad.emitOpError("argument #")
             << arg << " is no parameter, input or key";
    bool frozen = grad.getArgAttr(arg, nn::kFrozenAttrName) != nullptr;
    if (name && !isFrozen.try_emplace(name.getValue(), frozen).second)
      return grad.emitOpError("has two parameters '") << name.getValue() << "'";
  }
  return success();
}

/// Checks that `grad` is what differentiation makes: results of one mark each,
/// the loss among them, and one gradient of each trained parameter.
static LogicalResult verifyGradients(func::FuncOp grad) {
  llvm::StringMap<bool> hasGradient; // or needs none
  if (failed(collectNames(grad, hasGradient)))
    return failure();
  for (unsigned index = 0; index < grad.getNumResults(); ++index) {
    if (grad.getResultAttrDict(index).size() != 1)
      return grad.emitOpError("result #")
             << index << " has no mark: expected nn.loss, nn.metric or nn.grad";
    auto name = grad.getResultAttrOfType<StringAttr>(index, nn::kGradAttrName);
    if (name && !hasGradient.contains(name))
      return grad.emitOpError("result #")
             << index << " is the gradient of '" << name.getValue()
             << "', which is no parameter";
    if (name)
      hasGradient[name] = true;
  }
  if (grad.getNumResults() == 0 || !grad.getResultAttr(0, nn::kLossAttrName))
    return grad.emitOpError("expects its first result to be nn.loss");
  for (const auto &param : hasGradient)
    if (!param.second)
      return grad.emitOpError("returns no gradient of parameter '")
             << param.first() << "'";
  return success();
}

namespace {
struct BuildStep : dist::impl::BuildStepBase<BuildStep> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    auto grad = module.lookupSymbol<func::FuncOp>("loss_and_grad");
    if (!grad) {
      module.emitError("has no function 'loss_and_grad': differentiate it");
      return signalPassFailure();
    }
    if (optimizer != "adamw" && optimizer != "sgd") {
      module.emitError("optimizer '")
          << optimizer << "' is not known; known are adamw and sgd";
      return signalPassFailure();
    }
    if (Operation *taken = module.lookupSymbol("step")) {
      taken->emitOpError("is in the way of the step that is built");
      return signalPassFailure();
    }
    if (failed(verifyGradients(grad)))
      return signalPassFailure();
    BuildStepOptions options{optimizer,   beta1,    beta2,   eps,
                             weightDecay, clipNorm, momentum};
    StepBuilder(module, grad, options).run();
  }
};
} // namespace
