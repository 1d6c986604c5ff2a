//===- CollectiveCost.cpp - Bytes that a collective moves -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Cost/CollectiveCost.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dist;

int64_t dist::getBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

static int64_t getBytes(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += dist::getBytes(type);
  return bytes;
}

AxesAttr dist::lookupCollectiveAxes(Operation *op) {
  return llvm::TypeSwitch<Operation *, AxesAttr>(op)
      .Case<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp, PermuteOp>(
          [](auto collective) { return collective.getAxes(); })
      .Default(nullptr);
}

double dist::getWireBytes(Operation *op, int64_t n) {
  double share = double(n - 1) / n;
  double operands = ::getBytes(op->getOperandTypes());
  double results = ::getBytes(op->getResultTypes());
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](AllReduceOp) { return 2 * share * operands; })
      .Case([&](AllGatherOp) { return share * results; })
      .Case<ReduceScatterOp, AllToAllOp>([&](auto) { return share * operands; })
      .Case([&](PermuteOp) { return n > 1 ? operands : 0.0; })
      .Default(0.0);
}
