//===- ProgramModule.h - The data and entry points of a program -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TARGET_PROGRAMMODULE_H
#define DIST_LIB_TARGET_PROGRAMMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace dist {

/// Adds what runtime.h asks of a program to its parts, which are in the LLVM
/// dialect: beside the body `@SEG_body` of each of `segments` a function
/// `void (rank, arena, offsets)` that calls it, and in `program` their table,
/// the manifest, the constant `dist_program` and `main`. Bodies become internal
/// to their part.
mlir::LogicalResult addProgram(mlir::ModuleOp program,
                               llvm::ArrayRef<mlir::ModuleOp> parts,
                               llvm::ArrayRef<std::string> segments,
                               llvm::StringRef manifest);

} // namespace dist

#endif // DIST_LIB_TARGET_PROGRAMMODULE_H
