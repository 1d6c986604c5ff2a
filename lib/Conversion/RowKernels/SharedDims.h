//===- SharedDims.h - Loops that are one dimension --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_ROWKERNELS_SHAREDDIMS_H
#define DIST_CONVERSION_ROWKERNELS_SHAREDDIMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dist {

/// The dimensions that the loops of several generics share.
struct SharedDims {
  llvm::SmallVector<int64_t> sizes;
  /// Per generic, the dimension of each loop.
  llvm::SmallVector<llvm::SmallVector<unsigned>> dims;
};

/// Finds which loops of `generics` are the same dimension. Reports loops that
/// would have to be one dimension but differ in size, an op that would use one
/// dimension twice, and an op that shares nothing with the rest.
mlir::FailureOr<SharedDims>
inferSharedDims(llvm::MutableArrayRef<mlir::linalg::GenericOp> generics);

} // namespace dist

#endif // DIST_CONVERSION_ROWKERNELS_SHAREDDIMS_H
