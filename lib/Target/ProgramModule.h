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

/// Appends to `module`, which is in the LLVM dialect, what runtime.h asks of a
/// program: a function `void (rank, arena, offsets)` for each of `segments`
/// that calls its body `@SEG_body`, their table, the manifest, the constant
/// `dist_program` and `main`. Bodies become internal to the module.
mlir::LogicalResult addProgram(mlir::ModuleOp module,
                               llvm::ArrayRef<std::string> segments,
                               llvm::StringRef manifest);

} // namespace dist

#endif // DIST_LIB_TARGET_PROGRAMMODULE_H
