//===- Localizing.cpp - Ops that know global positions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

/// Where the block of a tensor of the global type `type` lies; null if every
/// device has all of it.
static PlaceAttr getPlaceOf(Type type) {
  ShardingAttr sharding = getSharding(type);
  if (!sharding ||
      llvm::all_of(sharding.getDims(), [](AxesAttr a) { return a.empty(); }))
    return nullptr;
  return PlaceAttr::get(type.getContext(), sharding.getMesh(),
                        sharding.getDims(),
                        cast<RankedTensorType>(type).getShape());
}

void DropoutOp::localize(TypeRange operands, TypeRange) {
  setPlaceAttr(getPlaceOf(operands.front()));
}

void IotaOp::localize(TypeRange, TypeRange results) {
  setPlaceAttr(getPlaceOf(results.front()));
}

/// Only a table whose rows are split needs to know which it has.
static PlaceAttr getRowPlace(Type table) {
  ShardingAttr sharding = getSharding(table);
  return sharding && !sharding.getDims().front().empty() ? getPlaceOf(table)
                                                         : nullptr;
}

void EmbeddingOp::localize(TypeRange operands, TypeRange) {
  setPlaceAttr(getRowPlace(operands.front()));
}

void EmbeddingGradOp::localize(TypeRange, TypeRange results) {
  setPlaceAttr(getRowPlace(results.front()));
}

/// Dropped probabilities are drawn by their index in `b h s t`: the place is
/// that of the scores, the query's with its width replaced by the keys.
template <typename OpTy>
static PlaceAttr getScorePlace(OpTy op, TypeRange operands) {
  PlaceAttr query = op.getDropout() ? getPlaceOf(operands[0]) : nullptr;
  if (!query)
    return nullptr;
  auto keys = cast<RankedTensorType>(operands[1]);
  unsigned position = keys.getRank() - 2;
  SmallVector<AxesAttr> dims(query.getDims());
  SmallVector<int64_t> shape(query.getShape());
  dims.back() = getSharding(keys).getDims()[position];
  shape.back() = keys.getDimSize(position);
  return PlaceAttr::get(op.getContext(), query.getMesh(), dims, shape);
}

void AttentionOp::localize(TypeRange operands, TypeRange) {
  setPlaceAttr(getScorePlace(*this, operands));
}

void AttentionGradOp::localize(TypeRange operands, TypeRange) {
  setPlaceAttr(getScorePlace(*this, operands));
}

/// A dimension that is kept whole is as long as the block is.
void nn::SliceOp::localize(TypeRange operands, TypeRange) {
  auto global = cast<RankedTensorType>(operands.front());
  SmallVector<int64_t> limits(getLimits());
  for (auto [dim, limit] : llvm::enumerate(limits))
    if (getStarts()[dim] == 0 && limit == global.getDimSize(dim) &&
        getStrides()[dim] == 1)
      limit = getInput().getType().getDimSize(dim);
  setLimits(limits);
}
