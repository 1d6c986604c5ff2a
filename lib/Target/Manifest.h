//===- Manifest.h - What a compiled program tells the runtime ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TARGET_MANIFEST_H
#define DIST_LIB_TARGET_MANIFEST_H

#include "dist/Target/Program.h"
#include "dist/Transforms/MemoryPlan.h"

namespace dist {

/// The names of the segments that `plan` runs, each once, in the order of their
/// first calls. The manifest speaks of them by their place in it.
std::vector<std::string> listSegments(const MemoryPlan &plan);

/// Writes the JSON text of docs/manifest.md for `module`, which is in the phase
/// *runtime*, laid out as `plan` says. Fails with a diagnostic if two tensors
/// have one name, or an attribute is malformed.
mlir::FailureOr<std::string>
buildManifest(mlir::ModuleOp module, const MemoryPlan &plan,
              const CompileOptions &options,
              llvm::ArrayRef<std::string> cpuFeatures);

} // namespace dist

#endif // DIST_LIB_TARGET_MANIFEST_H
