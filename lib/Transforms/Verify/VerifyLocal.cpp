//===- VerifyLocal.cpp - Is nothing owed or divided lost? -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/NaturalShardings.h"
#include "dist/Transforms/Passes.h"

namespace dist {
#define GEN_PASS_DEF_VERIFYLOCAL
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static LocalAttr getLocal(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<LocalAttr>(tensor.getEncoding())
                : nullptr;
}

/// The axes over which a value of `type` is owed; null: none.
static AxesAttr getOwed(Type type) {
  LocalAttr local = getLocal(type);
  return local && !local.getPartial().empty() ? local.getPartial() : nullptr;
}

/// The axes along which devices hold different values of `type`.
static SmallVector<AxisAttr> getDiffering(Type type) {
  SmallVector<AxisAttr> axes;
  if (LocalAttr local = getLocal(type)) {
    llvm::append_range(axes, local.getVarying().getAxes());
    llvm::append_range(axes, local.getPartial().getAxes());
  }
  return axes;
}

/// Checks that `op` may read each partial operand that it reads.
///
///   linearity   other operands of that kind
///   No          an error
///   Alone       none of them partial: P·P is no partial sum
///   Jointly     all of them partial over the same axes
static LogicalResult verifyPartialOperands(ShardingRuleOpInterface op) {
  std::optional<unsigned> alone;
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes())) {
    AxesAttr owed = getOwed(type);
    if (!owed)
      continue;
    Linearity linearity = op.getLinearity(index);
    if (linearity == Linearity::No || getLocal(type).getMonoid() != Monoid::Sum)
      return op->emitOpError("reads a partial value, in which it is not "
                             "linear: operand #")
             << index << " is " << type;
    if (linearity == Linearity::Alone && alone)
      return op->emitOpError("is a product of partial values: operands #")
             << *alone << " and #" << index << " owe a sum each";
    if (linearity == Linearity::Alone) {
      alone = index;
      continue;
    }
    for (auto [other, otherType] : llvm::enumerate(op->getOperandTypes()))
      if (op.getLinearity(other) == Linearity::Jointly &&
          getOwed(otherType) != owed)
        return op->emitOpError("adds what is owed to what is not: operand #")
               << index << " is " << type << ", operand #" << other << " is "
               << otherType;
  }
  return success();
}

/// What differs between devices stays so until a collective: each axis of an
/// operand is one of every result.
static LogicalResult verifyDifferences(Operation *op) {
  for (Type operand : op->getOperandTypes())
    for (AxisAttr axis : getDiffering(operand))
      for (auto [index, result] : llvm::enumerate(op->getResultTypes()))
        if (llvm::none_of(getDiffering(result),
                          [&](AxisAttr other) { return overlap(axis, other); }))
          return op->emitOpError("loses axis ")
                 << axis.getName() << ", along which an operand of " << operand
                 << " differs: result #" << index << " is " << result;
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  if (isa<ReshardOp, ConstraintOp>(op))
    return op->emitOpError("is left in the local phase");
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (ShardingAttr sharding = getSharding(type))
      return op->emitOpError("result #")
             << index << " still has the sharding " << sharding;
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled) // collectives, calls and returns
    return success();
  if (failed(verifyPartialOperands(ruled)))
    return failure();
  return verifyDifferences(op);
}

static LogicalResult verifyResults(func::FuncOp entry) {
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes()))
    if (getOwed(type))
      return entry.emitOpError("result #")
             << index << " of the entry is still owed: it is " << type;
  return success();
}

static LogicalResult verifyFunction(func::FuncOp func) {
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (ShardingAttr sharding = getSharding(type))
      return func.emitOpError("argument #")
             << index << " still has the sharding " << sharding;
  auto result =
      func.walk([](Operation *op) -> WalkResult { return verifyOp(op); });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyLocal : dist::impl::VerifyLocalBase<VerifyLocal> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto func : module.getOps<func::FuncOp>())
      if (failed(verifyFunction(func)))
        return signalPassFailure();
    if (func::FuncOp entry = lookupEntry(module))
      if (failed(verifyResults(entry)))
        return signalPassFailure();
    module->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "local"));
  }
};
} // namespace
