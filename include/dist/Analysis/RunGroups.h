//===- RunGroups.h - What of a run of ops belongs together ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_RUNGROUPS_H
#define DIST_ANALYSIS_RUNGROUPS_H

#include "mlir/IR/Operation.h"

namespace dist {

/// Parts `run`, ops in program order, into groups that share elements: two ops
/// are in one group if a tensor that is no scalar passes between them, or if
/// both compute scalars from scalars. What needs a scalar that another group
/// makes comes later, and what is only needed there comes later with it. So the
/// squares of each gradient are a group, the norm is one, and the update of
/// each parameter is one of its own, equal to that of the next layer's.
///
/// Groups come in an order in which each can run as a whole.
llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>
partitionRun(llvm::ArrayRef<mlir::Operation *> run);

} // namespace dist

#endif // DIST_ANALYSIS_RUNGROUPS_H
