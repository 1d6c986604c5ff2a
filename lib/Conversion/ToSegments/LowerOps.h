//===- LowerOps.h - Ops outside of row kernels ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_LOWEROPS_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_LOWEROPS_H

#include "SegmentBuilder.h"

namespace dist {

/// True if `op` is a product of two operands whose sums are over dimensions
/// that both have: what the GEMM library computes.
bool isProduct(nn::EinsumOp op);

/// Fails the run at the first id of `ids` that is not in [0, bound) and not
/// `ignored`; `what` names the op.
void buildIndexCheck(SegmentBuilder &b, mlir::Value ids, int64_t bound,
                     std::optional<int64_t> ignored, llvm::StringRef what);

/// `value` in a contiguous buffer: its own, or a copy.
mlir::FailureOr<View> getContiguous(SegmentBuilder &b, mlir::Value value);

/// Lets `value` lie where what reads it wants it, if that is inside the result
/// of a concatenation or, permuted, in a result of the segment.
bool placeForReaders(SegmentBuilder &b, mlir::Value value);

/// The same, or else a buffer in the order that a permutation wants. The last
/// dimension has stride 1.
void allocateForReaders(SegmentBuilder &b, mlir::Value value);

/// DIST_F32 and so on of runtime.h.
int64_t getRuntimeType(mlir::Type element);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_LOWEROPS_H
