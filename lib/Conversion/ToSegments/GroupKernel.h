//===- GroupKernel.h - A fusion group as a kernel ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_GROUPKERNEL_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_GROUPKERNEL_H

#include "SegmentBuilder.h"

namespace dist {

/// True if `op` can be part of a row kernel: elementwise ops, reductions,
/// broadcasts, positions, masks, rows of a table.
bool isFusible(mlir::Operation *op);

/// True for fusible ops that index into their operands, splats included: those
/// are buffers.
bool readsBuffers(mlir::Operation *op);

/// The operand that `op`, a fusible op, reads at other places than it writes:
/// it must be in memory before the kernel starts. Null if there is none.
mlir::Value lookupIndexedOperand(mlir::Operation *op);

/// Writes `ops`, fusible neighbours, as as few kernels as their shapes allow
/// and calls them.
mlir::LogicalResult lowerGroup(SegmentBuilder &b,
                               llvm::ArrayRef<mlir::Operation *> ops);

/// Copies a tensor of `type` from one view to another, by a kernel.
mlir::LogicalResult lowerCopy(SegmentBuilder &b, mlir::RankedTensorType type,
                              const View &from, const View &to);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_GROUPKERNEL_H
