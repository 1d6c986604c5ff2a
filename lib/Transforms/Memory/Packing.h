//===- Packing.h - Offsets for buffers with lifetimes -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TRANSFORMS_MEMORY_PACKING_H
#define DIST_LIB_TRANSFORMS_MEMORY_PACKING_H

#include "dist/Transforms/MemoryPlan.h"

namespace dist {

/// Gives every buffer that is no slot an offset from `base` on, such that those
/// in use at the same call do not overlap. Returns the first aligned byte
/// behind all of them, `base` if there are none.
int64_t packBuffers(llvm::MutableArrayRef<PlannedBuffer> buffers, int64_t base);

} // namespace dist

#endif // DIST_LIB_TRANSFORMS_MEMORY_PACKING_H
