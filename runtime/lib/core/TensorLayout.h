//===- TensorLayout.h - Which block of a tensor a rank has ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_TENSORLAYOUT_H
#define DIST_RUNTIME_CORE_TENSORLAYOUT_H

#include "core/Mesh.h"
#include "io/TensorBlock.h"

namespace dist {

/// How a global tensor of `dims` is split over a mesh. Each level of a split
/// takes the ceiling, major to minor: 5 over x = 2, y = 2 is 2, 1, 2, 0.
struct TensorLayout {
  std::vector<int64_t> dims;
  std::vector<std::vector<AxisPart>> axes; ///< one list a dimension

  /// What a rank stores, padding included.
  std::vector<int64_t> getLocalDims() const;
  int64_t getNumLocalElements() const;

  /// The block of `rank`: its place in the global tensor, without padding.
  io::TensorBlock getBlock(const Mesh &mesh, int64_t rank) const;

  /// True if `rank` is the first of the ranks that have its block.
  bool isOwner(const Mesh &mesh, int64_t rank) const;
};

/// Sets what lies between the sizes and the padded sizes of `block` to zero.
/// `local` is the storage of the whole padded block, of elements of
/// `elementBytes`.
void clearPadding(const io::TensorBlock &block, int64_t elementBytes,
                  void *local);

} // namespace dist

#endif // DIST_RUNTIME_CORE_TENSORLAYOUT_H
