//===- Differentiate.cpp - Reverse-mode derivatives through calls ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/Activity.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "dist/Transforms/Passes.h"
#include "dist/Transforms/SignatureAttrs.h"
#include "mlir/IR/IRMapping.h"

namespace dist {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// The derivative of a layer function, as two functions.
struct Derivative {
  /// f's arguments -> f's results, then the saved values.
  func::FuncOp forward;
  /// Some of f's arguments, the saved values, cotangents of active results ->
  /// cotangents of active arguments.
  func::FuncOp backward;
  SmallVector<unsigned> passedArgs; ///< of f, that the backward reads
  SmallVector<unsigned> activeArgs, activeResults;
};

/// A function's ops and, behind them, those of its vector-Jacobian product.
class Tape {
public:
  Tape(class Differentiator &owner, OpBuilder &builder)
      : owner(owner), b(builder) {}

  /// Copies the ops of `func`, whose arguments are `args`.
  LogicalResult record(func::FuncOp func, ValueRange args);
  /// The copy of a value of the function.
  Value lookup(Value original) const { return map.lookup(original); }
  /// Adds `cotangent` to that of the copy of `original`.
  void seed(Value original, Value cotangent) {
    accumulate(map.lookup(original), cotangent);
  }
  /// Writes the backward ops, from the last to the first.
  LogicalResult replay();
  /// The cotangent of the copy of `original`: zeros if nothing depends on it.
  Value getCotangent(Value original);

private:
  struct Entry {
    Operation *original, *copy;
  };
  LogicalResult recordCall(func::CallOp call);
  LogicalResult replayCall(func::CallOp original, func::CallOp copy);
  LogicalResult replayOp(Operation *original, Operation *copy);
  void accumulate(Value primal, Value cotangent);

  Differentiator &owner;
  OpBuilder &b;
  IRMapping map;
  SmallVector<Entry> entries;
  llvm::DenseMap<Value, Value> cotangents;
};

/// Differentiates the functions of a module, each once.
class Differentiator {
public:
  Differentiator(ModuleOp module, func::FuncOp entry)
      : module(module), symbols(module), entry(entry), activity(module, entry) {
  }

  LogicalResult run();
  FailureOr<Derivative *> getDerivative(func::FuncOp func);
  FailureOr<Derivative *> getDerivative(func::CallOp call) {
    return getDerivative(symbols.lookup<func::FuncOp>(call.getCallee()));
  }
  const Activity &getActivity() const { return activity; }

private:
  LogicalResult build(func::FuncOp func, Derivative &derivative);
  void split(func::FuncOp func, func::FuncOp both, Operation *firstBackward,
             Derivative &derivative);

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp entry;
  Activity activity;
  llvm::DenseMap<Operation *, std::unique_ptr<Derivative>> derivatives;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tape
//===----------------------------------------------------------------------===//

LogicalResult Tape::record(func::FuncOp func, ValueRange args) {
  map.map(func.getArguments(), args);
  for (Operation &op : func.getBody().front().without_terminator()) {
    const Activity &activity = owner.getActivity();
    bool isActive = llvm::any_of(op.getResults(), [&](Value result) {
      return activity.isActive(result);
    });
    auto call = dyn_cast<func::CallOp>(op);
    if (call && isActive) {
      if (failed(recordCall(call)))
        return failure();
      continue;
    }
    Operation *copy = b.clone(op, map);
    if (!isActive)
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(copy);
    if (!differentiable)
      return op.emitOpError("is not differentiable");
    copy = differentiable.exposeResiduals(b);
    map.map(op.getResults(), copy->getResults().take_front(op.getNumResults()));
    entries.push_back({&op, copy});
  }
  return success();
}

LogicalResult Tape::recordCall(func::CallOp call) {
  FailureOr<Derivative *> derivative = owner.getDerivative(call);
  if (failed(derivative))
    return failure();
  auto operands = llvm::map_to_vector(
      call.getOperands(), [&](Value operand) { return map.lookup(operand); });
  auto copy =
      func::CallOp::create(b, call.getLoc(), (*derivative)->forward, operands);
  map.map(call.getResults(),
          copy.getResults().take_front(call.getNumResults()));
  entries.push_back({call, copy});
  return success();
}

void Tape::accumulate(Value primal, Value cotangent) {
  Value &sum = cotangents[primal];
  sum = sum ? nn::TensorBuilder(b, primal.getLoc()).add(sum, cotangent)
            : cotangent;
}

Value Tape::getCotangent(Value original) {
  Value primal = map.lookup(original);
  if (Value cotangent = cotangents.lookup(primal))
    return cotangent;
  return nn::TensorBuilder(b, primal.getLoc()).zeros(primal.getType());
}

LogicalResult Tape::replayCall(func::CallOp original, func::CallOp copy) {
  Derivative &derivative = **owner.getDerivative(original);
  SmallVector<Value> operands;
  for (unsigned arg : derivative.passedArgs)
    operands.push_back(copy.getOperand(arg));
  llvm::append_range(operands,
                     copy.getResults().drop_front(original.getNumResults()));
  bool isReached = false;
  for (unsigned result : derivative.activeResults) {
    isReached |= bool(cotangents.lookup(copy->getResult(result)));
    operands.push_back(getCotangent(original->getResult(result)));
  }
  if (!isReached)
    return success();
  auto backward =
      func::CallOp::create(b, original.getLoc(), derivative.backward, operands);
  for (auto [arg, cotangent] :
       llvm::zip_equal(derivative.activeArgs, backward.getResults()))
    if (owner.getActivity().isActive(original.getOperand(arg)))
      accumulate(copy.getOperand(arg), cotangent);
  return success();
}

LogicalResult Tape::replayOp(Operation *original, Operation *copy) {
  auto dy = llvm::map_to_vector(copy->getResults(), [&](Value result) {
    return cotangents.lookup(result);
  });
  if (llvm::none_of(dy, [](Value value) { return bool(value); }))
    return success();
  Location loc = copy->getLoc();
  copy->setLoc(
      NameLoc::get(b.getStringAttr(copy->getName().stripDialect() + "'"), loc));
  auto dx = cast<DifferentiableOpInterface>(copy).buildVjp(b, dy);
  copy->setLoc(loc);
  if (failed(dx))
    return failure();
  for (auto [operand, primal, cotangent] :
       llvm::zip_equal(original->getOperands(), copy->getOperands(), *dx))
    if (cotangent && owner.getActivity().isActive(operand))
      accumulate(primal, cotangent);
  return success();
}

LogicalResult Tape::replay() {
  for (auto [original, copy] : llvm::reverse(entries)) {
    auto call = dyn_cast<func::CallOp>(original);
    if (failed(call ? replayCall(call, cast<func::CallOp>(copy))
                    : replayOp(original, copy)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layer functions
//===----------------------------------------------------------------------===//

/// Erases ops without users from the end of `block` to `first`.
static void eraseDead(Block &block, Operation *first) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    bool isFirst = &op == first;
    if (!isFirst && !op.hasTrait<OpTrait::IsTerminator>() && op.use_empty() &&
        isMemoryEffectFree(&op))
      op.erase();
    if (isFirst)
      return;
  }
}

/// True if the slices of `value` have as many elements as itself: to keep it
/// costs no more than to keep them.
static bool isSlicedWhole(Value value) {
  int64_t elements = 0;
  for (Operation *user : value.getUsers())
    if (auto slice = dyn_cast<nn::SliceOp>(user))
      elements += slice.getType().getNumElements();
  return elements >= cast<RankedTensorType>(value.getType()).getNumElements();
}

/// True if it is cheaper to compute the value of `op` again than to keep it.
static bool isCheap(Operation *op) {
  // Attention writes its result as the op behind it wants it: that is kept.
  if (isa<nn::RearrangeOp>(op))
    return !op->getOperand(0).getDefiningOp<nn::AttentionOp>();
  if (isa<nn::SliceOp>(op))
    return isSlicedWhole(op->getOperand(0));
  return isa<arith::ConstantOp, nn::IotaOp, nn::RepeatOp>(op);
}

/// Behind `mark`, reads the result of an attention from its rearrangement in
/// front, whose derivative is the way back: one of the two is kept.
static void keepRearranged(Operation *mark) {
  OpBuilder b(mark->getContext());
  b.setInsertionPointAfter(mark);
  for (Operation &op :
       llvm::make_range(mark->getBlock()->begin(), Block::iterator(mark))) {
    auto rearrange = dyn_cast<nn::RearrangeOp>(op);
    if (!rearrange || !rearrange.getInput().getDefiningOp<nn::AttentionOp>())
      continue;
    auto isBehind = [&](OpOperand &use) {
      return mark->isBeforeInBlock(use.getOwner());
    };
    if (llvm::none_of(rearrange.getInput().getUses(), isBehind))
      continue;
    auto back = rearrange.buildVjp(b, ValueRange(rearrange.getResult()));
    if (succeeded(back))
      rearrange.getInput().replaceUsesWithIf(back->front(), isBehind);
  }
}

FailureOr<Derivative *> Differentiator::getDerivative(func::FuncOp func) {
  std::unique_ptr<Derivative> &derivative = derivatives[func];
  if (derivative)
    return derivative.get();
  auto fresh = std::make_unique<Derivative>();
  if (failed(build(func, *fresh)))
    return failure();
  std::unique_ptr<Derivative> &slot = derivatives[func]; // may have moved
  slot = std::move(fresh);
  return slot.get();
}

LogicalResult Differentiator::build(func::FuncOp func, Derivative &derivative) {
  derivative.activeArgs = activity.getActiveArgs(func);
  derivative.activeResults = activity.getActiveResults(func);
  // Forward and backward in one block first; what crosses is saved.
  SmallVector<Type> inputs(func.getArgumentTypes());
  for (unsigned result : derivative.activeResults)
    inputs.push_back(func.getResultTypes()[result]);
  OpBuilder b(module.getContext());
  auto both = func::FuncOp::create(func.getLoc(), "both",
                                   b.getFunctionType(inputs, {}));
  Block *block = both.addEntryBlock();
  b.setInsertionPointToStart(block);
  auto args = block->getArguments();
  Tape tape(*this, b);
  auto *ret = func.getBody().front().getTerminator();
  Operation *mark = nullptr;
  if (succeeded(tape.record(func, args.take_front(func.getNumArguments())))) {
    SmallVector<Value> results;
    for (Value value : ret->getOperands())
      results.push_back(tape.lookup(value));
    mark = func::ReturnOp::create(b, func.getLoc(), results);
    for (auto [index, cotangent] : llvm::zip_equal(
             derivative.activeResults, args.drop_front(func.getNumArguments())))
      tape.seed(ret->getOperand(index), cotangent);
    if (failed(tape.replay()))
      mark = nullptr;
  }
  if (mark) {
    SmallVector<Value> grads;
    for (unsigned arg : derivative.activeArgs)
      grads.push_back(tape.getCotangent(func.getArgument(arg)));
    func::ReturnOp::create(b, func.getLoc(), grads);
    eraseDead(*block, mark);
    keepRearranged(mark);
    split(func, both, mark, derivative);
  }
  both.erase();
  return success(mark != nullptr);
}

/// Makes the forward function of the ops of `both` up to `mark` and the
/// backward function of those behind it.
void Differentiator::split(func::FuncOp func, func::FuncOp both,
                           Operation *mark, Derivative &derivative) {
  Block &block = both.getBody().front();
  unsigned numArgs = func.getNumArguments();
  auto isForward = [&](Operation *op) { return op->isBeforeInBlock(mark); };
  // What the backward reads, in a fixed order.
  llvm::SetVector<Value> saved;
  llvm::SetVector<Operation *> recomputed;
  llvm::SmallSetVector<unsigned, 8> passed;
  std::function<void(Value)> need = [&](Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getArgNumber() < numArgs)
        passed.insert(arg.getArgNumber());
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!isForward(op))
      return;
    if (!isCheap(op)) {
      saved.insert(value);
      return;
    }
    llvm::for_each(op->getOperands(), need);
    recomputed.insert(op);
  };
  for (Operation *op = mark->getNextNode(); op; op = op->getNextNode())
    llvm::for_each(op->getOperands(), need);
  derivative.passedArgs = passed.takeVector();
  llvm::sort(derivative.passedArgs);

  OpBuilder b(func);
  auto create = [&](StringRef suffix, TypeRange inputs, TypeRange results) {
    auto made =
        func::FuncOp::create(b, func.getLoc(), (func.getName() + suffix).str(),
                             b.getFunctionType(inputs, results));
    made.setPrivate();
    symbols.insert(made, Block::iterator(func));
    made.addEntryBlock();
    return made;
  };
  SmallVector<Value> returned(mark->getOperands());
  returned.append(saved.begin(), saved.end());
  derivative.forward =
      create("_fwd", func.getArgumentTypes(), ValueRange(returned).getTypes());
  IRMapping map;
  map.map(block.getArguments().take_front(numArgs),
          derivative.forward.getArguments());
  b.setInsertionPointToStart(&derivative.forward.getBody().front());
  for (Operation &op : block) {
    if (&op == mark)
      break;
    b.clone(op, map);
  }
  func::ReturnOp::create(
      b, func.getLoc(),
      llvm::map_to_vector(returned, [&](Value v) { return map.lookup(v); }));

  SmallVector<Value> inputs;
  for (unsigned arg : derivative.passedArgs)
    inputs.push_back(block.getArgument(arg));
  inputs.append(saved.begin(), saved.end());
  llvm::append_range(inputs, block.getArguments().drop_front(numArgs));
  Operation *ret = block.getTerminator();
  b.setInsertionPoint(func);
  derivative.backward =
      create("_bwd", ValueRange(inputs).getTypes(), ret->getOperandTypes());
  IRMapping backwardMap;
  backwardMap.map(inputs, derivative.backward.getArguments());
  b.setInsertionPointToStart(&derivative.backward.getBody().front());
  for (Operation *op : recomputed)
    b.clone(*op, backwardMap);
  for (Operation *op = mark->getNextNode(); op; op = op->getNextNode())
    b.clone(*op, backwardMap);
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

LogicalResult Differentiator::run() {
  Operation *ret = entry.getBody().front().getTerminator();
  OpBuilder b(entry);
  auto func =
      func::FuncOp::create(b, entry.getLoc(), "loss_and_grad",
                           b.getFunctionType(entry.getArgumentTypes(), {}));
  func.setPrivate();
  Block *block = func.addEntryBlock();
  for (auto [from, to] :
       llvm::zip_equal(entry.getArguments(), block->getArguments()))
    to.setLoc(from.getLoc());
  symbols.insert(func);
  func->moveAfter(entry);
  func.setAllArgAttrs(SmallVector<DictionaryAttr>(
      llvm::map_range(llvm::seq(entry.getNumArguments()),
                      [&](unsigned i) { return entry.getArgAttrDict(i); })));
  b.setInsertionPointToStart(block);
  Tape tape(*this, b);
  if (failed(tape.record(entry, block->getArguments())))
    return failure();
  Value loss = ret->getOperand(0);
  if (activity.isActive(loss))
    tape.seed(loss,
              nn::TensorBuilder(b, loss.getLoc()).constant(loss.getType(), 1));
  if (failed(tape.replay()))
    return failure();
  SmallVector<Value> results;
  SmallVector<NamedAttribute> marks;
  for (auto [index, value] : llvm::enumerate(ret->getOperands())) {
    results.push_back(tape.lookup(value));
    Attribute metric = entry.getResultAttr(index, nn::kMetricAttrName);
    marks.push_back(
        b.getNamedAttr(metric ? nn::kMetricAttrName : nn::kLossAttrName,
                       metric ? metric : b.getUnitAttr()));
  }
  for (BlockArgument arg : entry.getArguments()) {
    Attribute name = entry.getArgAttr(arg.getArgNumber(), nn::kParamAttrName);
    if (!name || !activity.isActive(arg))
      continue;
    results.push_back(tape.getCotangent(arg));
    marks.push_back(b.getNamedAttr(nn::kGradAttrName, name));
  }
  func::ReturnOp::create(b, entry.getLoc(), results);
  func.setType(b.getFunctionType(entry.getArgumentTypes(),
                                 ValueRange(results).getTypes()));
  SignatureAttrs attrs(func);
  for (auto [index, mark] : llvm::enumerate(marks))
    attrs.setResult(index, mark.getName(), mark.getValue());
  attrs.write();
  return success();
}

namespace {
struct Differentiate : dist::impl::DifferentiateBase<Differentiate> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verifyForm(getOperation())))
      return signalPassFailure();
    auto func = getOperation().lookupSymbol<func::FuncOp>(entry);
    if (!func) {
      getOperation().emitError("has no function '") << entry << "'";
      return signalPassFailure();
    }
    if (func.getNumResults() == 0) {
      func.emitOpError("returns nothing to differentiate");
      return signalPassFailure();
    }
    if (failed(Differentiator(getOperation(), func).run()))
      signalPassFailure();
  }
};
} // namespace
