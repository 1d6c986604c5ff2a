//===- FusionGroups.h - What may become one kernel --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_FUSIONGROUPS_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_FUSIONGROUPS_H

#include "mlir/IR/Operation.h"

namespace dist {

/// Parts `run`, fusible ops in program order, into groups that share elements:
/// two ops are in one group if a tensor that is no scalar passes between them.
/// So the update of each parameter is a group of its own, equal to that of the
/// next layer's, although all read the same few scalars. Groups come in an
/// order in which each can run as a whole; where scalars pass to and fro
/// between two of them the run stays one group.
llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>
partitionRun(llvm::ArrayRef<mlir::Operation *> run);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_FUSIONGROUPS_H
