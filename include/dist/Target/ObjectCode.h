//===- ObjectCode.h - From the LLVM dialect to an object file ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TARGET_OBJECTCODE_H
#define DIST_TARGET_OBJECTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace llvm {
class raw_pwrite_stream;
} // namespace llvm

namespace dist {

struct ObjectOptions {
  /// A CPU by LLVM's name (`znver3`, `x86-64-v3`); empty: the host's, with
  /// exactly the features that it has.
  std::string cpu;
  /// LLVM's optimisation level, 0 to 3.
  unsigned optLevel = 3;
};

/// Lets modules of `context` be translated; once, before any is.
void registerObjectTranslations(mlir::MLIRContext &context);

/// Translates `module`, which is in the LLVM dialect, and writes it to `os` as
/// a position-independent object file. Objects can be emitted on several
/// threads at once. Fails with a diagnostic at the module if it does not
/// translate or the CPU is unknown.
mlir::LogicalResult emitObject(mlir::ModuleOp module,
                               const ObjectOptions &options,
                               llvm::raw_pwrite_stream &os);

/// The CPU features of runtime/include/dist/cpu-features.def that code for
/// `options` may use, sorted by name (`avx2`, `fma`, ...).
mlir::FailureOr<std::vector<std::string>>
lookupCpuFeatures(mlir::Location loc, const ObjectOptions &options);

} // namespace dist

#endif // DIST_TARGET_OBJECTCODE_H
