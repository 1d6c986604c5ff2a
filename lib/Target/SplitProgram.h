//===- SplitProgram.h - Parts that are compiled apart -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TARGET_SPLITPROGRAM_H
#define DIST_LIB_TARGET_SPLITPROGRAM_H

#include "mlir/IR/BuiltinOps.h"

namespace dist {

/// Moves the functions of `module` into nested modules that can be compiled at
/// the same time: each declares what it calls in others and has copies of the
/// constants that it uses. Nothing else is left in `module`. Which function
/// lies where depends on the program alone, so its bits do not depend on the
/// number of threads.
llvm::SmallVector<mlir::ModuleOp> splitProgram(mlir::ModuleOp module);

} // namespace dist

#endif // DIST_LIB_TARGET_SPLITPROGRAM_H
