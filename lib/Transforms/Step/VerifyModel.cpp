//===- VerifyModel.cpp - Is this a model? ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Dialect/NN/IR/Written.h"
#include "dist/Interfaces/CostOpInterface.h"
#include "dist/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace dist {
#define GEN_PASS_DEF_VERIFYMODEL
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// Checks a module, function by function; stops at the first thing wrong in
/// each part.
class ModelVerifier {
public:
  ModelVerifier(ModuleOp module, StringRef entryName, StringRef precision)
      : module(module), entryName(entryName), precision(precision) {}

  LogicalResult run();

private:
  LogicalResult verifyTopLevel();
  LogicalResult verifyResults();
  LogicalResult verifyArguments();
  LogicalResult verifyRole(BlockArgument arg);
  LogicalResult verifyParameter(BlockArgument arg);
  LogicalResult verifyInput(BlockArgument arg);
  LogicalResult verifyName(BlockArgument arg, StringRef kind,
                           llvm::StringMap<Location> &seen);
  LogicalResult verifyFunction(func::FuncOp func);
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyType(Location loc, const Twine &what, Type type);
  LogicalResult verifyCall(func::CallOp call);

  Attribute getAttr(BlockArgument arg, StringRef name) {
    return entry.getArgAttr(arg.getArgNumber(), name);
  }
  StringRef getText(BlockArgument arg, StringRef name) {
    return cast<StringAttr>(getAttr(arg, name)).getValue();
  }

  ModuleOp module;
  StringRef entryName, precision;
  func::FuncOp entry;
  bool hasParameter = false;
  std::optional<Location> key;
  std::optional<std::pair<int64_t, Location>> batch; ///< of the first input
  llvm::StringMap<Location> paramNames, inputNames;
};
} // namespace

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

LogicalResult ModelVerifier::verifyTopLevel() {
  Operation *mesh = nullptr;
  for (Operation &op : *module.getBody()) {
    if (isa<MeshOp>(op)) {
      if (mesh) {
        InFlightDiagnostic diag = op.emitOpError("is the second mesh of the "
                                                 "module, which has at most "
                                                 "one");
        diag.attachNote(mesh->getLoc()) << "the first is here";
        return diag;
      }
      mesh = &op;
    } else if (!isa<func::FuncOp>(op)) {
      return op.emitOpError("cannot stand in a model: a module holds functions "
                            "and at most one dist.mesh");
    }
  }
  // Names that the passes behind give.
  for (StringRef name : {"step", "loss_and_grad"})
    if (Operation *taken = module.lookupSymbol(name))
      return taken->emitOpError("cannot be named '")
             << name << "': the compiler makes a function of this name";
  return success();
}

LogicalResult ModelVerifier::verifyResults() {
  if (entry.getNumResults() == 0)
    return entry.emitOpError("returns nothing: expected the scalar loss, then "
                             "metrics");
  auto loss = dyn_cast<RankedTensorType>(entry.getResultTypes().front());
  if (!loss || loss.getRank() != 0 || !isa<FloatType>(loss.getElementType()))
    return entry.emitOpError("expects its first result, the loss, to be a "
                             "scalar float such as 'tensor<f32>', but it is ")
           << entry.getResultTypes().front();
  if (entry.getResultAttr(0, nn::kMetricAttrName))
    return entry.emitOpError("marks its first result as a metric, but it is "
                             "the loss");
  llvm::StringMap<unsigned> names;
  for (unsigned index = 1; index < entry.getNumResults(); ++index) {
    auto name =
        entry.getResultAttrOfType<StringAttr>(index, nn::kMetricAttrName);
    if (!name)
      return entry.emitOpError("result #")
             << index << " has no name: expected 'nn.metric'";
    if (!names.try_emplace(name, index).second)
      return entry.emitOpError("result #")
             << index << ": metric " << name << " is returned twice";
    auto type = dyn_cast<RankedTensorType>(entry.getResultTypes()[index]);
    if (!type || type.getRank() != 0)
      return entry.emitOpError("result #")
             << index << ": metric " << name
             << " is logged as a number, but it is "
             << entry.getResultTypes()[index];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments of the entry
//===----------------------------------------------------------------------===//

LogicalResult ModelVerifier::verifyName(BlockArgument arg, StringRef kind,
                                        llvm::StringMap<Location> &seen) {
  StringRef name = getText(arg, kind);
  auto [it, isNew] = seen.try_emplace(name, arg.getLoc());
  if (isNew)
    return success();
  InFlightDiagnostic diag = emitError(arg.getLoc())
                            << kind << " \"" << name << "\" is given twice";
  diag.attachNote(it->second) << "the first is here";
  return diag;
}

/// Each argument attribute and the role that it belongs to.
LogicalResult ModelVerifier::verifyRole(BlockArgument arg) {
  constexpr StringRef kRoles[] = {nn::kParamAttrName, nn::kInputAttrName,
                                  nn::kKeyAttrName};
  StringRef role;
  for (StringRef name : kRoles) {
    if (!getAttr(arg, name))
      continue;
    if (!role.empty())
      return emitError(arg.getLoc())
             << "an argument has one role, but this has " << role << " and "
             << name;
    role = name;
  }
  if (role.empty())
    return emitError(arg.getLoc())
           << "argument #" << arg.getArgNumber()
           << " has no role: expected nn.param, nn.input or nn.key";
  constexpr std::pair<StringRef, StringRef> kOwners[] = {
      {nn::kInitAttrName, nn::kParamAttrName},
      {nn::kNoDecayAttrName, nn::kParamAttrName},
      {nn::kFrozenAttrName, nn::kParamAttrName},
      {nn::kBatchAttrName, nn::kInputAttrName},
      {nn::kNoBatchAttrName, nn::kInputAttrName},
      {nn::kStateAttrName, "@step"},
      {nn::kLrAttrName, "@step"},
      {nn::kStepAttrName, "@step"},
      {nn::kWrittenAttrName, "@step"}};
  for (auto [name, owner] : kOwners)
    if (getAttr(arg, name) && owner != role)
      return emitError(arg.getLoc()) << name << " belongs to arguments of "
                                     << owner << ", but this is " << role;
  return success();
}

/// True if `text` is an initial value: `zeros`, `ones`, `normal STD` or
/// `uniform LO HI`.
static bool isInit(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  SmallVector<double> numbers;
  for (StringRef word : llvm::drop_begin(words))
    if (word.getAsDouble(numbers.emplace_back()) ||
        !std::isfinite(numbers.back()))
      return false;
  if (words.empty())
    return false;
  if (words[0] == "zeros" || words[0] == "ones")
    return numbers.empty();
  if (words[0] == "normal")
    return numbers.size() == 1 && numbers[0] >= 0;
  return words[0] == "uniform" && numbers.size() == 2 &&
         numbers[0] <= numbers[1];
}

LogicalResult ModelVerifier::verifyParameter(BlockArgument arg) {
  hasParameter = true;
  StringRef name = getText(arg, nn::kParamAttrName);
  bool isFloat =
      isa<FloatType>(cast<RankedTensorType>(arg.getType()).getElementType());
  if (!isFloat && !getAttr(arg, nn::kFrozenAttrName))
    return emitError(arg.getLoc())
           << "parameter '" << name << "' of type " << arg.getType()
           << " cannot be trained: expected floats, or nn.frozen";
  if (!getAttr(arg, nn::kInitAttrName))
    return success();
  StringRef init = getText(arg, nn::kInitAttrName);
  if (!isInit(init))
    return emitError(arg.getLoc())
           << "parameter '" << name << "': nn.init is \"" << init
           << "\", but expected \"zeros\", \"ones\", \"normal STD\" or "
              "\"uniform LO HI\" with STD >= 0 and LO <= HI";
  if (!isFloat && init != "zeros" && init != "ones")
    return emitError(arg.getLoc())
           << "parameter '" << name << "' of type " << arg.getType()
           << " cannot be drawn by \"" << init << "\", which gives floats";
  return success();
}

LogicalResult ModelVerifier::verifyInput(BlockArgument arg) {
  auto type = cast<RankedTensorType>(arg.getType());
  StringRef name = getText(arg, nn::kInputAttrName);
  auto dim = dyn_cast_if_present<IntegerAttr>(getAttr(arg, nn::kBatchAttrName));
  if (getAttr(arg, nn::kNoBatchAttrName)) {
    if (dim)
      return emitError(arg.getLoc())
             << "input '" << name << "' has both nn.batch and nn.no_batch";
    return success();
  }
  if (dim && (dim.getInt() < 0 || dim.getInt() >= type.getRank()))
    return emitError(arg.getLoc())
           << "input '" << name << "': nn.batch is " << dim.getInt()
           << ", but the tensor has " << type.getRank() << " dimensions";
  if (type.getRank() == 0)
    return success();
  int64_t size = type.getDimSize(dim ? dim.getInt() : 0);
  if (!batch)
    batch = {size, arg.getLoc()};
  if (batch->first == size)
    return success();
  InFlightDiagnostic diag = emitError(arg.getLoc())
                            << "input '" << name << "' has a batch of " << size
                            << ", but another input has " << batch->first;
  diag.attachNote(batch->second) << "the other input is here";
  diag.attachNote() << "mark the dimension by nn.batch, or the input by "
                       "nn.no_batch if it has none";
  return diag;
}

LogicalResult ModelVerifier::verifyArguments() {
  for (BlockArgument arg : entry.getArguments()) {
    if (failed(verifyRole(arg)))
      return failure();
    if (getAttr(arg, nn::kKeyAttrName)) {
      auto type = cast<RankedTensorType>(arg.getType());
      if (type.getShape() != ArrayRef<int64_t>{2} ||
          !type.getElementType().isInteger(32))
        return emitError(arg.getLoc())
               << "expects the key to be 'tensor<2xi32>', but it is " << type;
      if (key) {
        InFlightDiagnostic diag = emitError(arg.getLoc())
                                  << "is the second nn.key; a step has one";
        diag.attachNote(*key) << "the first is here";
        return diag;
      }
      key = arg.getLoc();
    } else if (getAttr(arg, nn::kParamAttrName)) {
      if (failed(verifyName(arg, nn::kParamAttrName, paramNames)) ||
          failed(verifyParameter(arg)))
        return failure();
    } else if (failed(verifyName(arg, nn::kInputAttrName, inputNames)) ||
               failed(verifyInput(arg))) {
      return failure();
    }
  }
  if (hasParameter)
    return success();
  InFlightDiagnostic diag = entry.emitOpError("has no parameter to train");
  diag.attachNote()
      << "mark weights among its arguments by nn.param = \"NAME\"";
  return diag;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult ModelVerifier::verifyType(Location loc, const Twine &what,
                                        Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success(); // an error of the program's form
  if (tensor.getEncoding())
    return emitError(loc) << what << " is " << type
                          << ", but types of a model have no encoding: ask for "
                             "a sharding by dist.constraint";
  Type element = tensor.getElementType();
  if (precision == "f32" && isa<FloatType>(element) && !element.isF32())
    return emitError(loc) << what << " is " << type
                          << ", which precision f32 cannot change yet: leave "
                             "precision out, or write the model in f32";
  bool isKnown = element.isF64() || element.isF32() || element.isBF16() ||
                 element.isF16() || element.isSignlessInteger(1) ||
                 element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (isKnown)
    return success();
  return emitError(loc) << what << " is " << type
                        << ", but elements are f64, f32, bf16, f16, i1, i32 or "
                           "i64";
}

/// True for ops that every pass behind knows how to treat.
static bool isAccepted(Operation *op) {
  return isa<func::CallOp, func::ReturnOp, ConstraintOp>(op) ||
         (isa<ShardingRuleOpInterface>(op) &&
          isa<DifferentiableOpInterface>(op) && isa<CostOpInterface>(op));
}

LogicalResult ModelVerifier::verifyOp(Operation *op) {
  if (!isAccepted(op)) {
    InFlightDiagnostic diag =
        op->emitOpError("is not an op of the model language");
    diag.attachNote() << "ops of nn, and those of arith and math that "
                         "docs/accepted-ops.md lists, may be used";
    return diag;
  }
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(verifyType(op->getLoc(),
                          "result #" + Twine(index) + " of '" +
                              op->getName().getStringRef() + "'",
                          type)))
      return failure();
  if (auto call = dyn_cast<func::CallOp>(op))
    return verifyCall(call);
  return success();
}

LogicalResult ModelVerifier::verifyCall(func::CallOp call) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (callee == entry)
    return call.emitOpError("calls the entry");
  if (callee.isPrivate() && !callee.isExternal())
    return success();
  InFlightDiagnostic diag =
      call.emitOpError("calls '")
      << callee.getName() << "', which "
      << (callee.isExternal() ? "has no body" : "is not private");
  diag.attachNote(callee.getLoc()) << "the function is here";
  return diag;
}

LogicalResult ModelVerifier::verifyFunction(func::FuncOp func) {
  if (func.isExternal())
    return success(); // an error where it is called
  for (BlockArgument arg : func.getArguments()) {
    unsigned index = arg.getArgNumber();
    if (failed(verifyType(arg.getLoc(), "argument #" + Twine(index),
                          arg.getType())))
      return failure();
    if (func == entry || !func.isPrivate())
      continue;
    for (NamedAttribute attr :
         mlir::function_interface_impl::getArgAttrs(func, index))
      if (attr.getName().strref().starts_with("nn."))
        return emitError(arg.getLoc())
               << attr.getName().strref()
               << " belongs to arguments of the entry; '" << func.getName()
               << "' is called";
  }
  for (Operation &op : func.getBody().getOps())
    if (failed(verifyOp(&op)))
      return failure();
  return success();
}

LogicalResult ModelVerifier::run() {
  if (failed(verifyTopLevel()))
    return failure();
  entry = module.lookupSymbol<func::FuncOp>(entryName);
  if (!entry) {
    InFlightDiagnostic diag = module.emitError("the module has no function '")
                              << entryName << "'";
    auto names =
        llvm::map_range(module.getOps<func::FuncOp>(),
                        [](func::FuncOp func) { return func.getName().str(); });
    diag.attachNote() << "--entry names the function that returns the loss; "
                         "functions here: "
                      << llvm::join(names, ", ");
    return diag;
  }
  if (entry.isExternal())
    return entry.emitOpError("has no body");
  if (entry.isPrivate())
    return entry.emitOpError("is private, but it is the entry");
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyFunction(func)))
      return failure();
  return success(succeeded(verifyForm(module)) && succeeded(verifyResults()) &&
                 succeeded(verifyArguments()));
}

namespace {
struct VerifyModel : dist::impl::VerifyModelBase<VerifyModel> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(ModelVerifier(module, entry, precision).run()))
      return signalPassFailure();
    module->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "model"));
  }
};
} // namespace
