//===- DelayPartials.cpp - Add before reducing ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/NaturalShardings.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Transforms/Passes.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace dist {
#define GEN_PASS_DEF_DELAYPARTIALS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// The reshard that makes `value` from a partial sum and from nothing else
/// than what is owed, or null.
static ReshardOp lookupResolution(Value value) {
  auto reshard = value.getDefiningOp<ReshardOp>();
  if (!reshard)
    return nullptr;
  ShardingAttr from = getSharding(reshard.getOperand().getType());
  ShardingAttr to = getSharding(reshard.getType());
  bool resolves = from.isPartial() && !to.isPartial() &&
                  from.getMonoid() == Monoid::Sum &&
                  from.getDims() == to.getDims();
  return resolves ? reshard : nullptr;
}

static RankedTensorType withPartial(Type type, AxesAttr partial) {
  auto tensor = cast<RankedTensorType>(type);
  ShardingAttr sharding = getSharding(type);
  return RankedTensorType::get(
      tensor.getShape(), tensor.getElementType(),
      ShardingAttr::get(type.getContext(), sharding.getMesh(),
                        sharding.getDims(), Monoid::Sum, partial));
}

/// The axes of `a`, then those of `b` that are not in `a`.
static AxesAttr unite(AxesAttr a, AxesAttr b) {
  SmallVector<AxisAttr> axes(a.getAxes());
  for (AxisAttr axis : b.getAxes())
    if (llvm::none_of(axes,
                      [&](AxisAttr other) { return overlap(other, axis); }))
      axes.push_back(axis);
  return AxesAttr::get(a.getContext(), axes);
}

namespace {
/// reshard(reshard(x)) is reshard(x).
struct MergeReshards : OpRewritePattern<ReshardOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(ReshardOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getOperand().getDefiningOp<ReshardOp>();
    if (!first || !first->hasOneUse())
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getOperandMutable().assign(first.getOperand()); });
    return success();
  }
};

/// Two reductions and an addition are an addition and one reduction. A scalar
/// on its way into further additions waits with them.
struct AddBeforeReducing : OpRewritePattern<arith::AddFOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    ReshardOp lhs = lookupResolution(op.getLhs());
    ReshardOp rhs = lookupResolution(op.getRhs());
    if ((lhs && !lhs->hasOneUse()) || (rhs && !rhs->hasOneUse()) ||
        (!lhs && !rhs))
      return failure();
    if ((!lhs || !rhs) && !isScalarInSum(op))
      return failure();
    Value a = lhs ? lhs.getOperand() : op.getLhs();
    Value b = rhs ? rhs.getOperand() : op.getRhs();
    AxesAttr partial = unite(getSharding(a.getType()).getPartial(),
                             getSharding(b.getType()).getPartial());
    RankedTensorType type = withPartial(op.getType(), partial);
    auto owe = [&](Value value) -> Value {
      if (value.getType() == type)
        return value;
      return ReshardOp::create(rewriter, value.getLoc(), type, value);
    };
    Value sum = arith::AddFOp::create(rewriter, op.getLoc(), owe(a), owe(b));
    rewriter.replaceOpWithNewOp<ReshardOp>(op, op.getType(), sum);
    return success();
  }

  static bool isScalarInSum(arith::AddFOp op) {
    return cast<RankedTensorType>(op.getType()).getRank() == 0 &&
           op->hasOneUse() && isa<arith::AddFOp>(*op->user_begin());
  }
};

/// A sum over dimensions is smaller than what it sums.
struct SumBeforeReducing : OpRewritePattern<nn::ReduceOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    ReshardOp operand = lookupResolution(op.getInput());
    if (op.getKind() != nn::ReduceKind::Sum || !operand ||
        !operand->hasOneUse())
      return failure();
    AxesAttr partial =
        unite(getSharding(operand.getOperand().getType()).getPartial(),
              getSharding(op.getType()).getPartial());
    Operation *reduce = cloneWithTypes(op, rewriter, operand.getOperand(),
                                       withPartial(op.getType(), partial));
    rewriter.replaceOpWithNewOp<ReshardOp>(op, op.getType(),
                                           reduce->getResult(0));
    return success();
  }
};
} // namespace

/// True if no user of result `index` of the calls is a call: an activation's
/// cotangent goes on to the next layer, a gradient does not.
static bool endsAtCaller(ArrayRef<func::CallOp> calls, unsigned index) {
  return llvm::all_of(calls, [&](func::CallOp call) {
    return llvm::none_of(call.getResult(index).getUsers(), [](Operation *user) {
      return isa<func::CallOp>(user);
    });
  });
}

/// Lets `func` return partial what its callers can reduce.
static void returnPartials(func::FuncOp func, ArrayRef<func::CallOp> calls) {
  Operation *ret = func.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    ReshardOp resolution = lookupResolution(operand.get());
    if (!resolution || !resolution->hasOneUse() || !endsAtCaller(calls, index))
      continue;
    operand.set(resolution.getOperand());
    for (func::CallOp call : calls) {
      OpResult result = call->getResult(index);
      OpBuilder builder(call);
      builder.setInsertionPointAfter(call);
      auto reshard =
          ReshardOp::create(builder, call.getLoc(), result.getType(), result);
      result.replaceAllUsesExcept(reshard, reshard);
      result.setType(resolution.getOperand().getType());
    }
    resolution.erase();
  }
  func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(),
                                 ret->getOperandTypes()));
}

namespace {
struct DelayPartials : dist::impl::DelayPartialsBase<DelayPartials> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    if (!lookupMesh(module))
      return;
    rewrite();
    llvm::MapVector<Operation *, SmallVector<func::CallOp>> callsOf;
    module.walk([&](func::CallOp call) {
      callsOf[module.lookupSymbol(call.getCallee())].push_back(call);
    });
    for (auto &[callee, calls] : callsOf)
      returnPartials(cast<func::FuncOp>(callee), calls);
    rewrite();
  }

  /// One sweep in program order: an operand has its last form before its user
  /// is looked at.
  void rewrite() {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeReshards, AddBeforeReducing, SumBeforeReducing>(
        &getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    getOperation().walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
        [](ReshardOp op) {
          if (op->use_empty())
            op.erase();
        });
  }
};
} // namespace
