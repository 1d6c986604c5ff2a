//===- TensorStore.h - The named tensors of a program, on all ranks *- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_TENSORSTORE_H
#define DIST_RUNTIME_CORE_TENSORSTORE_H

#include "core/Rank.h"
#include "io/SafeTensors.h"

#include <span>

namespace dist {

/// Moves tensors between their logical form and the ranks' blocks. Ranks must
/// not play meanwhile. The blocks are worked out once: nothing allocates later.
class TensorStore {
public:
  TensorStore(const Manifest &manifest, std::vector<dist_rank *> ranks);

  /// The tensors of the program in the order of its manifest.
  size_t getNumTensors() const { return manifest.tensors.size(); }
  const TensorInfo &getInfo(size_t index) const {
    return manifest.tensors[index];
  }

  /// Initial values of the parameters, each rank's on its own thread. An error
  /// names a parameter that has none.
  io::Error initialise(uint64_t seed);

  /// Copies the whole tensor `from` to all ranks.
  io::Error load(size_t index, const io::TensorView &from);

  /// Writes the whole tensor to `to`, row-major.
  void gather(size_t index, void *to) const;

  /// Of `rank`, the block of a tensor that it has in its arena.
  const io::TensorBlock &getBlock(size_t index, const dist_rank &rank) const {
    return blocks[index][rank.index];
  }
  char *getData(size_t index, const dist_rank &rank) const {
    return rank.arena + getInfo(index).offset;
  }

  /// An error if two ranks that have the same block of a parameter or a state
  /// differ in it: ranks compute what is replicated each for itself.
  io::Error checkReplicas() const;

  /// Name, type and logical shape for files.
  io::TensorSpec getSpec(size_t index) const;

  /// The value of a tensor of one element; all ranks have it.
  double readScalar(const TensorInfo &tensor) const;

  /// Writes one element, converted, on every rank.
  void writeScalar(const TensorInfo &tensor, double value);
  void writeKey(const TensorInfo &tensor, uint32_t low, uint32_t high);

private:
  const dist_rank &getOwner(size_t index, const dist_rank &rank) const;

  const Manifest &manifest;
  std::vector<dist_rank *> ranks;
  std::vector<std::vector<io::TensorBlock>> blocks; ///< by tensor and rank
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_TENSORSTORE_H
