//===- BlockLayout.cpp - Global tensors cut into ranks' blocks ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/BlockLayout.h"
#include "dist/Dialect/NN/IR/NN.h"
#include <map>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

FailureOr<BlockLayout>
BlockLayout::get(function_ref<InFlightDiagnostic()> emitError,
                 const Spec &spec) {
  BlockLayout layout;
  layout.mesh = spec.mesh;
  layout.local.assign(spec.type.getShape().begin(), spec.type.getShape().end());
  layout.stored = layout.local;
  layout.axes.resize(layout.local.size());
  if (spec.mesh && spec.sharding) {
    if (failed(verifySharding(emitError, spec.mesh, spec.sharding, spec.type)))
      return failure();
    for (auto [dim, axes] : llvm::enumerate(spec.sharding.getDims())) {
      llvm::append_range(layout.axes[dim], axes.getAxes());
      layout.stored[dim] *= layout.mesh.getGroupSize(axes.getAxes());
    }
  }
  if (failed(layout.groupDims(emitError, spec)))
    return failure();
  return layout;
}

LogicalResult
BlockLayout::groupDims(function_ref<InFlightDiagnostic()> emitError,
                       const Spec &spec) {
  if (!spec.logical) {
    for (unsigned dim = 0; dim < stored.size(); ++dim)
      groups.push_back({dim});
  } else {
    nn::PatternAttr pattern = nn::PatternAttr::parseText(
        emitError, spec.logical.getContext(), "-> " + spec.logical.str());
    if (!pattern)
      return failure();
    unsigned next = 0;
    for (ArrayAttr dim : pattern.getResult().getDims()) {
      auto &group = groups.emplace_back();
      for (size_t i = 0; i < dim.size(); ++i)
        group.push_back(next++);
    }
    if (next != stored.size())
      return emitError() << "'dist.logical' " << spec.logical << " names "
                         << next << " dimensions, but the tensor is "
                         << spec.type;
  }
  for (const auto &group : groups) {
    int64_t &size = logical.emplace_back(1);
    for (unsigned dim : group)
      size *= stored[dim];
  }
  return spec.shape ? adoptShape(emitError, *spec.shape) : success();
}

/// True if the dimensions of a group can have `size` elements in all; makes
/// the one that is padded as much smaller.
bool BlockLayout::adoptSize(ArrayRef<unsigned> dims, int64_t size) {
  int64_t padded = 1;
  for (unsigned dim : dims)
    padded *= stored[dim];
  if (padded == size)
    return true;
  for (unsigned dim : dims) {
    int64_t others = stored[dim] ? padded / stored[dim] : 0;
    if (!others || size % others || !mesh ||
        getLocalSize(mesh, size / others, axes[dim]) != local[dim])
      continue;
    stored[dim] = size / others;
    return true;
  }
  return false;
}

LogicalResult
BlockLayout::adoptShape(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> shape) {
  bool fits = shape.size() == groups.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = adoptSize(groups[i], shape[i]);
  if (!fits)
    return emitError() << "cannot be of shape " << formatShape(shape)
                       << "; expected " << formatShape(logical);
  logical.assign(shape.begin(), shape.end());
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

int64_t BlockLayout::getNumRanks() const {
  MeshOp op = mesh;
  return op ? op.getNumDevices() : 1;
}

BlockLayout::Block BlockLayout::getBlock(int64_t rank) const {
  Block block;
  for (size_t dim = 0; dim < stored.size(); ++dim) {
    auto [begin, end] =
        axes[dim].empty() ? std::pair<int64_t, int64_t>(0, stored[dim])
                          : dist::getBlock(mesh, stored[dim], axes[dim], rank);
    block.begin.push_back(begin);
    block.sizes.push_back(end - begin);
  }
  return block;
}

std::vector<int64_t> BlockLayout::getGlobalOffsets(const Block &block) const {
  Shape strides = getStrides(stored);
  int64_t base = 0;
  for (auto [begin, stride] : llvm::zip_equal(block.begin, strides))
    base += begin * stride;
  return getOffsets(block.sizes, strides, base);
}

RankTensors BlockLayout::cut(const Tensor &global) const {
  Tensor whole = global.reshape(stored);
  RankTensors blocks;
  std::map<Shape, int64_t> firstRank;
  for (int64_t rank = 0; rank < getNumRanks(); ++rank) {
    Block block = getBlock(rank);
    auto [it, isFirst] = firstRank.try_emplace(block.begin, rank);
    if (!isFirst) {
      Tensor shared = blocks[it->second];
      blocks.push_back(std::move(shared));
      continue;
    }
    if (block.sizes == stored) {
      blocks.push_back(whole);
      continue;
    }
    Tensor held = whole.pick(block.sizes, getGlobalOffsets(block));
    Tensor padded = Tensor::poison(whole.getKind(), local);
    padded.place(getOffsets(block.sizes, getStrides(local)), held);
    blocks.push_back(std::move(padded));
  }
  return blocks;
}

FailureOr<Tensor>
BlockLayout::assemble(function_ref<InFlightDiagnostic()> emitError,
                      const RankTensors &blocks) const {
  Tensor whole = Tensor::zeros(blocks.front().getKind(), stored);
  std::map<Shape, int64_t> firstRank;
  for (auto [rank, tensor] : llvm::enumerate(blocks)) {
    Block block = getBlock(rank);
    auto pickHeld = [&](const Tensor &t) {
      return t.pick(block.sizes, getOffsets(block.sizes, getStrides(local)));
    };
    auto [it, isFirst] = firstRank.try_emplace(block.begin, rank);
    if (isFirst) {
      whole.place(getGlobalOffsets(block), pickHeld(tensor));
      continue;
    }
    const Tensor &twin = blocks[it->second];
    if (tensor.getStorage() != twin.getStorage() &&
        !pickHeld(tensor).isBitEqual(pickHeld(twin)))
      return emitError() << "differs between ranks " << it->second << " and "
                         << rank << ", which hold the same block";
  }
  return whole.reshape(logical);
}
