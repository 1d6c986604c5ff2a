//===- TensorLayout.cpp - Which block of a tensor a rank has --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/TensorLayout.h"

#include <algorithm>
#include <cstring>

using namespace dist;

/// Of a non-negative `a`, near the largest number as well.
static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

std::vector<int64_t> TensorLayout::getLocalDims() const {
  std::vector<int64_t> local = dims;
  for (size_t d = 0; d < dims.size(); ++d)
    for (const AxisPart &part : axes[d])
      local[d] = ceilDiv(local[d], part.size);
  return local;
}

int64_t TensorLayout::getNumLocalElements() const {
  int64_t count = 1;
  for (int64_t size : getLocalDims())
    count *= size;
  return count;
}

io::TensorBlock TensorLayout::getBlock(const Mesh &mesh, int64_t rank) const {
  io::TensorBlock block = io::TensorBlock::whole(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t &offset = block.offsets[d], &size = block.sizes[d];
    for (const AxisPart &part : axes[d]) {
      // The next level cuts the padded block, of which `size` are real.
      int64_t step = ceilDiv(block.padded[d], part.size);
      int64_t skipped = mesh.getCoordinate(rank, part) * step;
      offset += std::min(skipped, size);
      size = std::clamp(size - skipped, int64_t(0), step);
      block.padded[d] = step;
    }
  }
  return block;
}

bool TensorLayout::isOwner(const Mesh &mesh, int64_t rank) const {
  int64_t owner = 0;
  for (const std::vector<AxisPart> &parts : axes)
    owner += rank - mesh.getFirstOf(rank, parts);
  return owner == rank;
}

void dist::clearPadding(const io::TensorBlock &block, int64_t elementBytes,
                        void *local) {
  if (block.sizes == block.padded)
    return;
  size_t rank = block.padded.size();
  int64_t width = block.padded[rank - 1], rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d)
    rows *= block.padded[d];
  for (int64_t row = 0; row < rows; ++row) {
    bool real = true;
    int64_t rest = row;
    for (size_t d = rank - 1; d-- > 0; rest /= block.padded[d])
      real &= rest % block.padded[d] < block.sizes[d];
    int64_t first = real ? block.sizes[rank - 1] : 0;
    std::memset(static_cast<char *>(local) +
                    (row * width + first) * elementBytes,
                0, (width - first) * elementBytes);
  }
}
