//===- ProgramForm.cpp - What passes take for granted ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dist;

namespace {
class FormVerifier {
public:
  explicit FormVerifier(ModuleOp module)
      : module(module), symbols(module), mesh(lookupMesh(module)) {}

  LogicalResult run();

private:
  LogicalResult verifyFunction(func::FuncOp func);
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyType(Location loc, const Twine &what, Type type);
  LogicalResult verifyNoRecursion(func::FuncOp func);

  ModuleOp module;
  SymbolTable symbols;
  MeshOp mesh;
  llvm::DenseSet<Type> fine;                ///< types that were looked at
  llvm::DenseMap<Operation *, bool> isDone; ///< false while on the call stack
};
} // namespace

LogicalResult FormVerifier::verifyType(Location loc, const Twine &what,
                                       Type type) {
  if (fine.contains(type))
    return success();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return emitError(loc) << what << " is " << type
                          << ", but a model has tensors of static shape";
  auto emitSharding = [&] { return emitError(loc) << what << ": "; };
  if (ShardingAttr sharding = getSharding(type))
    if (failed(verifySharding(emitSharding, mesh, sharding, tensor)))
      return failure();
  fine.insert(type);
  return success();
}

LogicalResult FormVerifier::verifyOp(Operation *op) {
  if (op->getNumRegions() != 0)
    return op->emitOpError("has regions, but a model has no branches or loops");
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(verifyType(op->getLoc(),
                          "result #" + Twine(index) + " of '" +
                              op->getName().getStringRef() + "'",
                          type)))
      return failure();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (!isa<DenseElementsAttr>(constant.getValue()))
      return op->emitOpError("expects its elements as dense<…>, but it is ")
             << constant.getValue();
  return success();
}

LogicalResult FormVerifier::verifyFunction(func::FuncOp func) {
  if (func.isExternal())
    return func.emitOpError("has no body");
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has ") << func.getBody().getBlocks().size()
                                    << " blocks, but a model has no branches";
  for (BlockArgument arg : func.getArguments())
    if (failed(verifyType(arg.getLoc(),
                          "argument #" + Twine(arg.getArgNumber()),
                          arg.getType())))
      return failure();
  for (Operation &op : func.getBody().front())
    if (failed(verifyOp(&op)))
      return failure();
  return success();
}

LogicalResult FormVerifier::verifyNoRecursion(func::FuncOp func) {
  auto [it, isNew] = isDone.try_emplace(func, false);
  if (!isNew)
    return it->second
               ? success()
               : func.emitOpError("calls itself, at first or at last; a model "
                                  "has no recursion");
  for (auto call : func.getBody().front().getOps<func::CallOp>())
    if (failed(
            verifyNoRecursion(symbols.lookup<func::FuncOp>(call.getCallee()))))
      return failure();
  isDone[func] = true;
  return success();
}

LogicalResult FormVerifier::run() {
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyFunction(func)))
      return failure();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyNoRecursion(func)))
      return failure();
  return success();
}

LogicalResult dist::verifyForm(ModuleOp module) {
  return FormVerifier(module).run();
}
