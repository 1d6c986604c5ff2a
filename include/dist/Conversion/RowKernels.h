//===- RowKernels.h - Fusion groups as loops over rows ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_ROWKERNELS_H
#define DIST_CONVERSION_ROWKERNELS_H

#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dist {

/// Bytes of scratch memory that kernel `func` needs once it is lowered: the
/// partial sums of its column reductions. Fixed by the shapes, whatever the
/// number of threads. Reports what makes `func` no row kernel.
mlir::FailureOr<int64_t> computeRowKernelWorkspace(mlir::func::FuncOp func);

} // namespace dist

#endif // DIST_CONVERSION_ROWKERNELS_H
