//===- Linker.h - From object files to an executable -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TARGET_LINKER_H
#define DIST_LIB_TARGET_LINKER_H

#include "mlir/IR/Diagnostics.h"

namespace dist {

/// Links `objects`, object files in memory, with the runtime into the
/// executable `path`. Works beside it and renames when all is done: `path` is
/// either the new program or what it was. Fails with a diagnostic at `loc`.
mlir::LogicalResult linkProgram(mlir::Location loc,
                                llvm::ArrayRef<llvm::StringRef> objects,
                                llvm::StringRef path);

} // namespace dist

#endif // DIST_LIB_TARGET_LINKER_H
