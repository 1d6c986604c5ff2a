//===- ReshardPlan.h - Collectives between two shardings --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TRANSFORMS_RESHARDPLAN_H
#define DIST_TRANSFORMS_RESHARDPLAN_H

#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/Builders.h"

namespace dist {

/// The type of a device's block of a global tensor: its shape rounded up, and
/// along which axes devices differ.
mlir::RankedTensorType getLocalType(mlir::RankedTensorType global, MeshOp mesh);

/// Writes at `builder` the collectives that turn `value`, the block of a
/// tensor of global type `from`, into its block under `to`; returns it. First
/// what is owed is reduced, then splits are added where that needs no message,
/// moved, gathered and added.
mlir::Value buildReshard(mlir::OpBuilder &builder, mlir::Location loc,
                         MeshOp mesh, mlir::Value value,
                         mlir::RankedTensorType from,
                         mlir::RankedTensorType to);

} // namespace dist

#endif // DIST_TRANSFORMS_RESHARDPLAN_H
