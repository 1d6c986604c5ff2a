//===- VerifySharded.cpp - Does every tensor have a sharding? -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A type's encoding sees no module, so that its mesh and axes exist is checked
// here, once for the phase.
//
//===----------------------------------------------------------------------===//

#include "dist/Transforms/Passes.h"

namespace dist {
#define GEN_PASS_DEF_VERIFYSHARDED
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// Checks the sharding of `value`; null `mesh`: that it has none.
static LogicalResult verifyValue(MeshOp mesh, Value value,
                                 function_ref<InFlightDiagnostic()> emitError) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return success();
  if (!mesh)
    return type.getEncoding()
               ? emitError() << "is " << type
                             << ", but the module has no mesh to divide over"
               : success();
  ShardingAttr sharding = getSharding(type);
  if (!sharding)
    return emitError() << "has no sharding: it is " << type;
  return verifySharding(emitError, mesh, sharding, type);
}

/// Elementwise ops of upstream dialects see equal blocks of all operands.
static LogicalResult verifyElementwise(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect != "arith" && dialect != "math") || op->getNumResults() != 1)
    return success();
  ShardingAttr expected = getSharding(op->getResultTypes().front());
  for (Type type : op->getOperandTypes())
    if (getSharding(type) != expected)
      return op->emitOpError("has an operand of ")
             << getSharding(type) << ", but its result is " << expected;
  return success();
}

static LogicalResult verifyOp(MeshOp mesh, Operation *op) {
  if (isa<ConstraintOp>(op) || (!mesh && isa<ReshardOp>(op)))
    return op->emitOpError("is left in the sharded phase");
  for (OpResult result : op->getResults())
    if (failed(verifyValue(mesh, result, [&] {
          return op->emitOpError("result #") << result.getResultNumber() << " ";
        })))
      return failure();
  return verifyElementwise(op);
}

static LogicalResult verifyFunction(MeshOp mesh, func::FuncOp func) {
  if (func.isExternal())
    return success();
  for (BlockArgument arg : func.getArguments())
    if (failed(verifyValue(mesh, arg, [&] {
          return emitError(arg.getLoc())
                 << "argument #" << arg.getArgNumber() << " ";
        })))
      return failure();
  auto result = func.walk(
      [&](Operation *op) -> WalkResult { return verifyOp(mesh, op); });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifySharded : dist::impl::VerifyShardedBase<VerifySharded> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshOp mesh = lookupMesh(module);
    for (auto func : module.getOps<func::FuncOp>())
      if (failed(verifyFunction(mesh, func)))
        return signalPassFailure();
    module->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "sharded"));
  }
};
} // namespace
