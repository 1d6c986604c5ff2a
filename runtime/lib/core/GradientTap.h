//===- GradientTap.h - Gradients of a step, kept for a dump -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_GRADIENTTAP_H
#define DIST_RUNTIME_CORE_GRADIENTTAP_H

#include "core/Rank.h"
#include "io/SafeTensors.h"

#include <unordered_map>

namespace dist {

/// Holds the whole gradient of every hook of a program's step.
class GradientTap {
public:
  explicit GradientTap(const Manifest &manifest);

  /// Copies the block of `rank` that `hook` names, if it is the block's owner;
  /// ranks may do so at once.
  void take(const dist_rank &rank, const HookAction &hook);

  size_t getNumGradients() const { return gradients.size(); }
  io::TensorSpec getSpec(size_t index) const; ///< named `grad:NAME`
  const std::vector<std::byte> &getData(size_t index) const {
    return gradients[index].whole;
  }

private:
  struct Gradient {
    const TensorInfo *info;
    std::vector<std::byte> whole;
    std::vector<io::TensorBlock> blocks; ///< by rank
  };

  void add(const std::vector<Action> &actions);

  const Mesh &mesh;
  std::vector<Gradient> gradients;
  std::unordered_map<const HookAction *, size_t> indices;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_GRADIENTTAP_H
