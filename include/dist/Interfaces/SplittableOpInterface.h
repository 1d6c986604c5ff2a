//===- SplittableOpInterface.h - Dims that may be split ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_SPLITTABLEOPINTERFACE_H
#define DIST_INTERFACES_SPLITTABLEOPINTERFACE_H

#include "dist/Interfaces/ShardingRuleOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace dist {

/// Sizes, major to minor, whose product is the size of a dimension.
using Atoms = llvm::SmallVector<int64_t, 2>;

/// How the factors of an op's rule are spelt.
struct FactorSplit {
  /// `factors[f]` are the sizes that factor f is split into.
  llvm::SmallVector<Atoms> factors;
  /// `keepsGroup[i][d]`, by operands then results: dimension d stays one
  /// dimension although its rule has several factors.
  llvm::SmallVector<llvm::SmallVector<bool>> keepsGroup;
};

/// A copy of `op` with other operands and result types.
mlir::Operation *cloneWithTypes(mlir::Operation *op, mlir::OpBuilder &builder,
                                mlir::ValueRange operands,
                                mlir::TypeRange resultTypes);

} // namespace dist

#include "dist/Interfaces/SplittableOpInterface.h.inc"

#endif // DIST_INTERFACES_SPLITTABLEOPINTERFACE_H
