//===- SplittableOpInterface.cpp - Dims that may be split -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interfaces/SplittableOpInterface.h"

using namespace mlir;

#include "dist/Interfaces/SplittableOpInterface.cpp.inc"

Operation *dist::cloneWithTypes(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state);
}
