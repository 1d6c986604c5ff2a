//===- GradientTap.cpp - Gradients of a step, kept for a dump -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/GradientTap.h"

using namespace dist;

GradientTap::GradientTap(const Manifest &manifest) : mesh(manifest.mesh) {
  add(manifest.prologue);
  add(manifest.step);
}

void GradientTap::add(const std::vector<Action> &actions) {
  for (const Action &action : actions) {
    const auto *hook = std::get_if<HookAction>(&action);
    if (!hook)
      continue;
    const TensorInfo &info = hook->gradient;
    indices[hook] = gradients.size();
    Gradient &gradient = gradients.emplace_back();
    gradient.info = &info;
    gradient.whole.resize(info.getNumElements() * sizeOf(info.dtype));
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
      gradient.blocks.push_back(info.layout.getBlock(mesh, rank));
  }
}

void GradientTap::take(const dist_rank &rank, const HookAction &hook) {
  const TensorInfo &info = hook.gradient;
  if (!info.layout.isOwner(mesh, rank.index))
    return;
  Gradient &gradient = gradients[indices.at(&hook)];
  io::copyOut(rank.arena + info.offset, gradient.blocks[rank.index],
              io::fromABI(info.dtype), gradient.whole.data());
}

io::TensorSpec GradientTap::getSpec(size_t index) const {
  const TensorInfo &info = *gradients[index].info;
  return {"grad:" + info.name, io::fromABI(info.dtype), info.shape};
}
