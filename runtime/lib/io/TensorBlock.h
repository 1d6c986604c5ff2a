//===- TensorBlock.h - A rank's block of a global tensor --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_TENSORBLOCK_H
#define DIST_RUNTIME_IO_TENSORBLOCK_H

#include "io/ElementType.h"
#include "io/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dist::io {

/// The hyper-rectangle `[offsets, offsets + sizes)` of a global tensor of
/// `dims`, stored row-major in local dimensions `padded >= sizes`. What lies
/// between sizes and padded is padding: it is neither read nor written here.
/// A size may be 0. Everything is in elements.
struct TensorBlock {
  std::vector<int64_t> dims, offsets, sizes, padded;

  /// All of a tensor.
  static TensorBlock whole(std::vector<int64_t> dims);

  /// Calls `row(global, local, count)` for each run of elements that is
  /// contiguous in both, by their flat indices in the global tensor and in the
  /// local storage.
  template <typename Row>
  void forEachRow(Row &&row) const;
};

/// A named tensor in memory that someone else owns, such as a mapped file.
struct TensorView {
  std::string name;
  ElementType type = ElementType::U8;
  std::vector<int64_t> shape;
  const std::byte *data = nullptr; ///< need not be aligned
  int64_t bytes = 0;
};

/// Copies `block` of `from` to local storage of type `to`. `block.dims` may
/// factor `from.shape`; their products agree. Equal types copy bits; floats
/// become floats, rounded once; integers integers, with a range check. Anything
/// else, and an integer that does not fit, is an error that names the tensor.
Error copyIn(const TensorView &from, const TensorBlock &block, ElementType to,
             void *local);

/// Copies a rank's block to its place in the whole tensor at `global`.
void copyOut(const void *local, const TensorBlock &block, ElementType type,
             void *global);

/// "2x3" for messages; "scalar" without dimensions.
std::string formatShape(const std::vector<int64_t> &shape);

template <typename Row>
void TensorBlock::forEachRow(Row &&row) const {
  size_t rank = dims.size();
  for (int64_t size : sizes)
    if (size == 0)
      return;
  if (rank == 0)
    return row(int64_t(0), int64_t(0), int64_t(1));
  int64_t outer = 1;
  for (size_t d = 0; d + 1 < rank; ++d)
    outer *= sizes[d];
  for (int64_t i = 0; i < outer; ++i) {
    int64_t global = offsets[rank - 1], local = 0, rest = i;
    int64_t globalStride = dims[rank - 1], localStride = padded[rank - 1];
    for (size_t d = rank - 1; d-- > 0;) {
      int64_t index = rest % sizes[d];
      rest /= sizes[d];
      global += (offsets[d] + index) * globalStride;
      local += index * localStride;
      globalStride *= dims[d];
      localStride *= padded[d];
    }
    row(global, local, sizes[rank - 1]);
  }
}

} // namespace dist::io

#endif // DIST_RUNTIME_IO_TENSORBLOCK_H
