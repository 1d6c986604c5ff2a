//===- CollectiveCost.h - Bytes that a collective moves ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_COST_COLLECTIVECOST_H
#define DIST_COST_COLLECTIVECOST_H

#include "dist/Dialect/Dist/IR/Dist.h"

namespace dist {

/// Bytes of a tensor of `type` as this device holds it.
int64_t getBytes(mlir::Type type);

/// The axes of a collective; null where `op` moves nothing between devices.
AxesAttr lookupCollectiveAxes(mlir::Operation *op);

/// Bytes that one device sends for the collective `op` on a ring of `n`:
///
///   all_reduce       2 (n-1)/n of the buffer
///   reduce_scatter     (n-1)/n of the operand
///   all_gather         (n-1)/n of the result
///   all_to_all         (n-1)/n of the operand
///   permute            the operand
double getWireBytes(mlir::Operation *op, int64_t n);

} // namespace dist

#endif // DIST_COST_COLLECTIVECOST_H
