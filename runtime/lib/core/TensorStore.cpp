//===- TensorStore.cpp - The named tensors of a program, on all ranks -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/TensorStore.h"

#include "io/Init.h"

#include <cstring>

using namespace dist;
using io::Error;

TensorStore::TensorStore(const Manifest &manifest,
                         std::vector<dist_rank *> localRanks)
    : manifest(manifest), ranks(std::move(localRanks)) {
  for (const TensorInfo &tensor : manifest.tensors) {
    std::vector<io::TensorBlock> &all = blocks.emplace_back();
    for (int64_t rank = 0; rank < manifest.mesh.getNumRanks(); ++rank)
      all.push_back(tensor.layout.getBlock(manifest.mesh, rank));
  }
}

io::TensorSpec TensorStore::getSpec(size_t index) const {
  const TensorInfo &tensor = getInfo(index);
  return {tensor.name, io::fromABI(tensor.dtype), tensor.shape};
}

static io::Expected<io::Init> parseInit(const TensorInfo &tensor) {
  if (tensor.init.empty())
    return io::makeError("parameter '%s' has no initial value; it must be "
                         "loaded with --load or --load-params",
                         tensor.name.c_str());
  io::Expected<io::Init> init = io::Init::parse(tensor.init);
  if (!init)
    return io::makeError("parameter '%s': %s", tensor.name.c_str(),
                         init.takeError().message().c_str());
  return init;
}

Error TensorStore::initialise(uint64_t seed) {
  struct Context {
    const TensorStore &store;
    uint64_t seed;
    std::vector<std::pair<size_t, io::Init>> inits;
  } context{*this, seed, {}};
  for (size_t i = 0; i < getNumTensors(); ++i) {
    if (getInfo(i).role != Role::Param)
      continue;
    io::Expected<io::Init> init = parseInit(getInfo(i));
    if (!init)
      return init.takeError();
    context.inits.emplace_back(i, *init);
  }
  ranks[0]->backend.runOnRanks(
      [](void *context, dist_rank &rank) {
        auto &[store, seed, inits] = *static_cast<Context *>(context);
        for (const auto &[index, init] : inits) {
          const TensorInfo &tensor = store.getInfo(index);
          init.fill(tensor.name, seed, store.getBlock(index, rank),
                    io::fromABI(tensor.written), io::fromABI(tensor.dtype),
                    store.getData(index, rank));
        }
      },
      &context);
  return Error::success();
}

Error TensorStore::load(size_t index, const io::TensorView &from) {
  for (dist_rank *rank : ranks) {
    const io::TensorBlock &block = getBlock(index, *rank);
    dist_dtype dtype = getInfo(index).dtype;
    char *to = getData(index, *rank);
    if (Error error = io::copyIn(from, block, io::fromABI(dtype), to))
      return error;
    clearPadding(block, sizeOf(dtype), to);
  }
  return Error::success();
}

void TensorStore::gather(size_t index, void *to) const {
  const TensorInfo &tensor = getInfo(index);
  for (dist_rank *rank : ranks)
    if (tensor.layout.isOwner(manifest.mesh, rank->index))
      io::copyOut(getData(index, *rank), getBlock(index, *rank),
                  io::fromABI(tensor.dtype), to);
}

/// The rank whose block of a tensor stands for that of `rank` in files.
const dist_rank &TensorStore::getOwner(size_t index,
                                       const dist_rank &rank) const {
  for (const dist_rank *other : ranks)
    if (getInfo(index).layout.isOwner(manifest.mesh, other->index) &&
        getBlock(index, *other).offsets == getBlock(index, rank).offsets)
      return *other;
  return rank;
}

Error TensorStore::checkReplicas() const {
  for (size_t i = 0; i < getNumTensors(); ++i) {
    const TensorInfo &info = getInfo(i);
    if (info.role != Role::Param && info.role != Role::State)
      continue;
    int64_t bytes = sizeOf(info.dtype);
    for (const dist_rank *rank : ranks) {
      const dist_rank &owner = getOwner(i, *rank);
      const char *ours = getData(i, *rank), *theirs = getData(i, owner);
      bool isEqual = true;
      getBlock(i, *rank).forEachRow([&](int64_t, int64_t row, int64_t count) {
        isEqual &= std::memcmp(ours + row * bytes, theirs + row * bytes,
                               count * bytes) == 0;
      });
      if (!isEqual)
        return io::makeError("'%s' differs between ranks %d and %d, which have "
                             "the same block of it",
                             info.name.c_str(), owner.index, rank->index);
    }
  }
  return Error::success();
}

double TensorStore::readScalar(const TensorInfo &tensor) const {
  return loadAsDouble(tensor.dtype, ranks[0]->arena + tensor.offset, 0);
}

void TensorStore::writeScalar(const TensorInfo &tensor, double value) {
  for (dist_rank *rank : ranks)
    dispatch(tensor.dtype, [&](auto element) {
      using T = decltype(element);
      if constexpr (sizeof(T) == 2)
        element = T(static_cast<float>(value));
      else
        element = static_cast<T>(value);
      std::memcpy(rank->arena + tensor.offset, &element, sizeof(T));
    });
}

void TensorStore::writeKey(const TensorInfo &tensor, uint32_t low,
                           uint32_t high) {
  uint32_t words[] = {low, high};
  for (dist_rank *rank : ranks)
    std::memcpy(rank->arena + tensor.offset, words, sizeof(words));
}
