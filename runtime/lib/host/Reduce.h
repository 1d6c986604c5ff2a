//===- Reduce.h - Elementwise reduction of several buffers ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_REDUCE_H
#define DIST_RUNTIME_HOST_REDUCE_H

#include "dist/runtime.h"

#include <span>

namespace dist {

/// Writes elements [lo, hi) of ((from[0] o from[1]) o from[2]) ... to each of
/// `to`, which may be among `from`. bf16 and f16 are reduced in f32 and rounded
/// once; max and min keep a NaN; integers wrap; an i1 has max and min only.
void reduce(dist_dtype dtype, dist_monoid monoid,
            std::span<const void *const> from, std::span<void *const> to,
            int64_t lo, int64_t hi);

} // namespace dist

#endif // DIST_RUNTIME_HOST_REDUCE_H
