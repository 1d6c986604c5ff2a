//===- ProgramForm.h - What passes take for granted -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_PROGRAMFORM_H
#define DIST_ANALYSIS_PROGRAMFORM_H

#include "mlir/IR/BuiltinOps.h"

namespace dist {

/// Checks what every pass from the model to segments takes for granted, so that
/// none has to ask: functions have a body of one block and call each other
/// without recursion; values are tensors of static shape, constants among them
/// are dense; ops have no regions; shardings are of the module's mesh. Emits
/// what is wrong.
mlir::LogicalResult verifyForm(mlir::ModuleOp module);

} // namespace dist

#endif // DIST_ANALYSIS_PROGRAMFORM_H
