//===- LibraryMemory.h - What the GEMM library allocates --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TARGET_LIBRARYMEMORY_H
#define DIST_TARGET_LIBRARYMEMORY_H

#include "mlir/IR/BuiltinOps.h"

namespace dist {

/// Bytes that the GEMM library holds at most inside a call of `module`, which
/// is in the phase *runtime*, on a rank of `threads` threads (0: the cores
/// shared out): measured on this machine, by running every different product
/// (runtime/tools). They come from malloc, not from the arena. Fails, with a
/// diagnostic, where the measuring tool does not run.
mlir::FailureOr<int64_t> measureLibraryMemory(mlir::ModuleOp module,
                                              int64_t threads);

} // namespace dist

#endif // DIST_TARGET_LIBRARYMEMORY_H
