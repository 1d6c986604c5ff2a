//===- ScalarBody.h - Elementwise ops on one element ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_SCALARBODY_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_SCALARBODY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Operation.h"

namespace dist {

/// True if `buildScalarBody` can write `op`.
bool hasScalarBody(mlir::Operation *op);

/// Writes what `op`, an elementwise op on tensors, does with one element.
mlir::Value buildScalarBody(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
                            mlir::ValueRange elements);

/// Words 0 to 3 of the Philox4x32-10 block with `counter` under `key`, all i32.
llvm::SmallVector<mlir::Value, 4>
buildPhilox(mlir::ImplicitLocOpBuilder &b,
            llvm::SmallVector<mlir::Value, 4> counter, mlir::Value key0,
            mlir::Value key1);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_SCALARBODY_H
