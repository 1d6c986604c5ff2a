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

/// The mask of dropped probabilities is indexed by query head and position.
void AttentionOp::localize(TypeRange operands, TypeRange) {
  if (getDropout())
    setPlaceAttr(getPlaceOf(operands.front()));
}

void AttentionGradOp::localize(TypeRange operands, TypeRange) {
  if (getDropout())
    setPlaceAttr(getPlaceOf(operands.front()));
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
