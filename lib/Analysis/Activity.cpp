//===- Activity.cpp - Values that need a cotangent ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/Activity.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;

Activity::Activity(ModuleOp module, func::FuncOp entry) : module(module) {
  for (BlockArgument arg : entry.getArguments())
    if (entry.getArgAttr(arg.getArgNumber(), nn::kParamAttrName) &&
        !entry.getArgAttr(arg.getArgNumber(), nn::kFrozenAttrName))
      mark(arg);
  while (visit(entry)) {
    // A call may have made more arguments of a visited function active.
  }
}

bool Activity::mark(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value)) &&
         active.insert(value).second;
}

bool Activity::visit(func::FuncOp func) {
  bool changed = false;
  func.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      changed |= visitCall(call);
    else if (!isa<nn::StopGradientOp>(op) &&
             llvm::any_of(op->getOperands(),
                          [&](Value operand) { return isActive(operand); }))
      for (Value result : op->getResults())
        changed |= mark(result);
  });
  return changed;
}

bool Activity::visitCall(func::CallOp call) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  bool changed = false;
  for (auto [operand, arg] :
       llvm::zip_equal(call.getOperands(), callee.getArguments()))
    if (isActive(operand))
      changed |= mark(arg);
  changed |= visit(callee);
  for (unsigned index : getActiveResults(callee))
    changed |= mark(call->getResult(index));
  return changed;
}

SmallVector<unsigned> Activity::getActiveArgs(func::FuncOp func) const {
  SmallVector<unsigned> indices;
  for (BlockArgument arg : func.getArguments())
    if (isActive(arg))
      indices.push_back(arg.getArgNumber());
  return indices;
}

SmallVector<unsigned> Activity::getActiveResults(func::FuncOp func) const {
  SmallVector<unsigned> indices;
  Operation *ret = func.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands())
    if (isActive(operand.get()))
      indices.push_back(operand.getOperandNumber());
  return indices;
}
