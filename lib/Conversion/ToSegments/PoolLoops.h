//===- PoolLoops.h - Loops that run on the rank's pool ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_POOLLOOPS_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_POOLLOOPS_H

#include "SegmentBuilder.h"

namespace dist {

/// Writes step `i` of a loop with the function's own `operands`.
using PoolBody = llvm::function_ref<void(
    mlir::ImplicitLocOpBuilder &, mlir::ValueRange operands, mlir::Value i)>;

/// Runs `count` steps on the rank's pool, in tasks of the same steps whatever
/// the number of threads: `body` becomes a function over `operands`. Steps must
/// not write what another one touches; `elements` is what one of them touches.
void callOnPool(SegmentBuilder &b, mlir::ValueRange operands, int64_t count,
                int64_t elements, PoolBody body);

/// Loops over [0, size) for each of `shape`.
void buildLoops(
    mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)>
        body);

/// Calls `body` for every position of `shape`, on the rank's pool; it must not
/// write what is touched at another position of the first dimension.
void buildPoolLoops(
    SegmentBuilder &b, mlir::ValueRange operands, llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(mlir::ImplicitLocOpBuilder &,
                            mlir::ValueRange operands, mlir::ValueRange at)>
        body);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_POOLLOOPS_H
