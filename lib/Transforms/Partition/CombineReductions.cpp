//===- CombineReductions.cpp - One message for several scalars ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Transforms/Passes.h"

namespace dist {
#define GEN_PASS_DEF_COMBINEREDUCTIONS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static bool reducesScalars(Operation *op) {
  return isa<AllReduceOp>(op) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           return cast<RankedTensorType>(type).getRank() == 0;
         });
}

/// Moves `op` in front of the first user in its block.
static void sink(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  if (first)
    op->moveBefore(first);
}

/// Joins `first` and its successor `second` if they may travel together.
static AllReduceOp join(AllReduceOp first, AllReduceOp second) {
  bool depends = llvm::any_of(second.getOperands(), [&](Value operand) {
    return operand.getDefiningOp() == first;
  });
  if (depends || first.getAxes() != second.getAxes() ||
      first.getMonoid() != second.getMonoid())
    return nullptr;
  SmallVector<Value> operands(first.getOperands());
  llvm::append_range(operands, second.getOperands());
  SmallVector<Type> types(first->getResultTypes());
  llvm::append_range(types, second->getResultTypes());
  OpBuilder builder(second);
  auto both = AllReduceOp::create(
      builder, builder.getFusedLoc({first.getLoc(), second.getLoc()}), types,
      first.getMonoid(), operands, first.getAxes());
  unsigned count = first.getNumResults();
  first->replaceAllUsesWith(both.getResults().take_front(count));
  second->replaceAllUsesWith(both.getResults().drop_front(count));
  first.erase();
  second.erase();
  return both;
}

namespace {
struct CombineReductions
    : dist::impl::CombineReductionsBase<CombineReductions> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      SmallVector<Operation *> scalars;
      for (Operation &op : llvm::reverse(block))
        if (reducesScalars(&op))
          scalars.push_back(&op);
      llvm::for_each(scalars, sink); // last first: users have moved already
      Operation *op = block.empty() ? nullptr : &block.front();
      while (op) {
        Operation *next = op->getNextNode();
        bool both = next && reducesScalars(op) && reducesScalars(next);
        AllReduceOp joined =
            both ? join(cast<AllReduceOp>(op), cast<AllReduceOp>(next))
                 : nullptr;
        op = joined ? joined.getOperation() : next;
      }
    }
  }
};
} // namespace
