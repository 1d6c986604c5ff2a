//===- IdBounds.cpp - How large an index may be ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Program.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static int64_t getSize(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

/// The bound that the op of `use` puts on its operand.
static std::optional<int64_t> getBound(OpOperand &use) {
  using Bound = std::optional<int64_t>;
  Value ids = use.get();
  return llvm::TypeSwitch<Operation *, Bound>(use.getOwner())
      .Case([&](nn::EmbeddingOp op) -> Bound {
        if (PlaceAttr place = op.getPlaceAttr())
          return place.getShape().front();
        return getSize(op.getTable(), 0);
      })
      .Case([&](nn::EmbeddingGradOp op) -> Bound {
        if (PlaceAttr place = op.getPlaceAttr())
          return place.getShape().front();
        return getSize(op.getResult(), 0);
      })
      .Case([&](nn::CrossEntropyOp op) -> Bound {
        return cast<RankedTensorType>(op.getLogits().getType())
            .getShape()
            .back();
      })
      .Case([&](nn::CheckedOp op) -> Bound { return op.getBound(); })
      .Case([&](nn::TakeOp op) -> Bound {
        return ids == op.getIds() ? Bound(getSize(op.getInput(), op.getDim()))
                                  : std::nullopt;
      })
      .Case([&](nn::GatherOp op) -> Bound {
        return ids == op.getIndices()
                   ? Bound(getSize(op.getInput(), op.getDim()))
                   : std::nullopt;
      })
      .Case([&](nn::ScatterAddOp op) -> Bound {
        return getSize(op.getInput(), op.getDim());
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// True if the results of `op` hold elements of its operand unchanged.
static bool movesElements(Operation *op) {
  return isa<nn::RearrangeOp, nn::RepeatOp, nn::SliceOp, nn::ReshapeOp,
             nn::ReverseOp, nn::ConcatOp, nn::CheckedOp, nn::StopGradientOp,
             ConstraintOp, ReshardOp, VaryOp, AllGatherOp, AllToAllOp, SliceOp,
             PermuteOp>(op);
}

std::optional<int64_t> dist::interp::inferIdBound(BlockArgument argument) {
  std::optional<int64_t> smallest;
  SmallVector<Value> worklist{argument};
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      if (std::optional<int64_t> bound = getBound(use))
        smallest = std::min(*bound, smallest.value_or(*bound));
      Operation *user = use.getOwner();
      if (movesElements(user))
        llvm::append_range(worklist, user->getResults());
      if (auto call = dyn_cast<func::CallOp>(user))
        if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                call, call.getCalleeAttr());
            callee && !callee.isExternal())
          worklist.push_back(callee.getArgument(use.getOperandNumber()));
    }
  }
  return smallest;
}
