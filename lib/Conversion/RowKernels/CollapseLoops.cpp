//===- CollapseLoops.cpp - Dimensions that can run as one loop ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernelPlan.h"

using namespace mlir;
using namespace dist;

static SmallVector<Access> collectAccesses(const KernelGroup &group) {
  SmallVector<Access> accesses;
  for (linalg::GenericOp op : group.getGenerics())
    for (OpOperand &operand : op->getOpOperands())
      if (Value buffer = lookupBuffer(operand.get()))
        accesses.push_back(group.getAccess(
            buffer,
            group.getGroupMap(op, op.getMatchingIndexingMap(&operand))));
  for (const KernelOutput &output : group.getOutputs())
    accesses.push_back(group.getAccess(output));
  return accesses;
}

/// An op that asks for the index of a dimension keeps it apart.
static bool asksForIndex(linalg::GenericOp op, unsigned loop) {
  return llvm::any_of(op.getOps<linalg::IndexOp>(), [&](linalg::IndexOp index) {
    return index.getDim() == loop;
  });
}

/// The two dimensions are the same kind of loop, or none, to every op.
static bool agreeOnOps(const KernelGroup &group, unsigned outer,
                       unsigned inner) {
  for (linalg::GenericOp op : group.getGenerics()) {
    ArrayRef<unsigned> dims = group.getDims(op);
    const unsigned *a = llvm::find(dims, outer), *b = llvm::find(dims, inner);
    if ((a == dims.end()) != (b == dims.end()))
      return false;
    if (a == dims.end())
      continue;
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    unsigned i = a - dims.begin(), j = b - dims.begin();
    if (kinds[i] != kinds[j] || asksForIndex(op, i) || asksForIndex(op, j))
      return false;
  }
  return true;
}

SmallVector<KernelLoop> dist::collapseLoops(const KernelGroup &group) {
  SmallVector<Access> accesses = collectAccesses(group);
  SmallVector<KernelLoop> loops;
  for (auto [dim, size] : llvm::enumerate(group.getSizes())) {
    if (size == 1)
      continue;
    auto isOneWalk = [&, dim = dim, size = size](const Access &access) {
      return access.strides[loops.back().getInnermost()] ==
             access.strides[dim] * size;
    };
    if (!loops.empty() && agreeOnOps(group, loops.back().getInnermost(), dim) &&
        llvm::all_of(accesses, isOneWalk)) {
      loops.back().dims.push_back(dim);
      loops.back().size *= size;
    } else {
      loops.push_back({{unsigned(dim)}, size});
    }
  }
  return loops;
}
