//===- Program.h - From lowered segments to an executable -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TARGET_PROGRAM_H
#define DIST_TARGET_PROGRAM_H

#include "dist/Transforms/MemoryPlan.h"
#include <string>

namespace mlir {
class TimingScope;
} // namespace mlir

namespace dist {

struct CompileOptions {
  /// The executable to write; an existing one is replaced when all is done.
  std::string output = "train";
  /// What the program calls itself, in messages and the manifest.
  std::string name = "train";
  /// A CPU by LLVM's name; empty: the host's.
  std::string cpu;
  /// LLVM's optimisation level, 0 to 3.
  unsigned optLevel = 3;
  /// Threads of a rank; 0: the ranks share the cores.
  int64_t threads = 0;
  /// Name and learning rate of the optimizer, for the manifest.
  std::string optimizer = "adamw";
  double lr = 3e-4;
  /// Measures what follows, if any.
  mlir::TimingScope *timing = nullptr;
};

/// Compiles `module`, which is in the phase *runtime* and whose memory is
/// `plan`, into the executable `options.output`: writes the manifest, emits
/// machine code and links it with the runtime that lies beside this tool.
///
/// Consumes `module`: what is left of it is the LLVM dialect of the program.
/// On failure a diagnostic is emitted, and nothing new is left on the disk.
mlir::LogicalResult compileProgram(mlir::ModuleOp module,
                                   const MemoryPlan &plan,
                                   const CompileOptions &options);

} // namespace dist

#endif // DIST_TARGET_PROGRAM_H
