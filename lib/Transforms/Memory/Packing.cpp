//===- Packing.cpp - Offsets for buffers with lifetimes -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Greedy by size, first fit: large buffers first, each in the lowest gap that
// its contemporaries leave. Large ones are hard to place late, small ones fill
// the gaps between them (2001.03288, section 5).
//
//===----------------------------------------------------------------------===//

#include "Packing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dist;

/// The lowest offset from `base` on where `buffer` fits between its
/// contemporaries among `placed`, which are in the order of their offsets.
static int64_t findGap(const PlannedBuffer &buffer,
                       ArrayRef<const PlannedBuffer *> placed, int64_t base) {
  int64_t offset = base;
  for (const PlannedBuffer *other : placed) {
    if (other->lastCall < buffer.firstCall ||
        buffer.lastCall < other->firstCall)
      continue;
    if (offset + buffer.bytes <= other->offset)
      break;
    offset = std::max<int64_t>(
        offset, llvm::alignTo(other->offset + other->bytes, kBufferAlignment));
  }
  return offset;
}

int64_t dist::packBuffers(MutableArrayRef<PlannedBuffer> buffers,
                          int64_t base) {
  SmallVector<PlannedBuffer *> order;
  for (PlannedBuffer &buffer : buffers)
    if (!buffer.isSlot)
      order.push_back(&buffer);
  llvm::sort(order, [](const PlannedBuffer *a, const PlannedBuffer *b) {
    return std::tuple(-a->bytes, a->firstCall, a) <
           std::tuple(-b->bytes, b->firstCall, b);
  });
  SmallVector<const PlannedBuffer *> placed;
  int64_t end = base;
  for (PlannedBuffer *buffer : order) {
    buffer->offset = findGap(*buffer, placed, base);
    end = std::max(end, buffer->offset + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer,
                                    [](const auto *a, const auto *b) {
                                      return a->offset < b->offset;
                                    }),
                  buffer);
  }
  return llvm::alignTo(end, kBufferAlignment);
}
