//===- Validation.h - Two programs on the same inputs -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_VALIDATION_H
#define DIST_INTERPRETER_VALIDATION_H

#include "dist/Interpreter/InputSource.h"

namespace dist::interp {

/// What a program and its reference compute.
struct ResultPair {
  NamedTensors results, expected;
};

/// Runs `entry` of `module` and the default entry of `reference` on the inputs
/// of `source`, those of `reference` first. Emits an error where one of them
/// cannot be run.
mlir::FailureOr<ResultPair>
runBoth(mlir::ModuleOp module, llvm::StringRef entry, mlir::ModuleOp reference,
        InterpreterOptions options, const InputSource &source);

/// The largest relative difference that f64 leaves between two phases.
inline constexpr double kPhaseTolerance = 1e-10;

/// Runs `module`, a later phase of `step`, on all its ranks, and `step` on one
/// device, in f64 on the same random inputs and states, and compares every
/// result (`compare`). Emits an error that names the worst one, with a note
/// for each of the others, where some are over `kPhaseTolerance`. Time and
/// memory are the interpreter's: meant for small models.
mlir::LogicalResult verifyAgainstStep(mlir::ModuleOp module,
                                      mlir::ModuleOp step, double learningRate);

} // namespace dist::interp

#endif // DIST_INTERPRETER_VALIDATION_H
