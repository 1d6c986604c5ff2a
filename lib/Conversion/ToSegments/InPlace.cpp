//===- InPlace.cpp - Results that take the place of arguments -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InPlace.h"
#include "dist/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace dist;

/// The name of the parameter or state that `attrs` mark, with its kind.
static std::pair<StringRef, Attribute> getStored(DictionaryAttr attrs) {
  for (StringRef kind : {nn::kParamAttrName, nn::kStateAttrName})
    if (Attribute name = attrs ? attrs.get(kind) : Attribute())
      return {kind, name};
  return {};
}

/// True if no op behind `call`, and `call` itself once only, reads `value`.
static bool isLastReadOnce(Value value, func::CallOp call) {
  return llvm::count(call.getOperands(), value) == 1 &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user == call || user->isBeforeInBlock(call);
         });
}

/// True if `result` of `call` is the new value of what operand `argument` is
/// the old one of.
static bool isUpdate(func::CallOp call, unsigned result, unsigned argument) {
  auto old = dyn_cast<BlockArgument>(call.getOperand(argument));
  if (!old || !isLastReadOnce(old, call))
    return false;
  auto entry = call->getParentOfType<func::FuncOp>();
  auto stored = getStored(entry.getArgAttrDict(old.getArgNumber()));
  return stored.second &&
         llvm::any_of(call.getResult(result).getUses(), [&](OpOperand &use) {
           return isa<func::ReturnOp>(use.getOwner()) &&
                  getStored(entry.getResultAttrDict(use.getOperandNumber())) ==
                      stored;
         });
}

SmallVector<int64_t> dist::findReplacedArguments(func::FuncOp segment,
                                                 ArrayRef<func::CallOp> calls) {
  SmallVector<int64_t> replaced(segment.getNumResults(), -1);
  if (calls.empty())
    return replaced;
  for (unsigned result = 0; result < segment.getNumResults(); ++result)
    for (unsigned arg = 0; arg < segment.getNumArguments(); ++arg)
      if (segment.getResultTypes()[result] == segment.getArgumentTypes()[arg] &&
          llvm::all_of(calls, [&](func::CallOp call) {
            return isUpdate(call, result, arg);
          }))
        replaced[result] = arg;
  return replaced;
}
