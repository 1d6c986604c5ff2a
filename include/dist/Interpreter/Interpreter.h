//===- Interpreter.h - Runs functions on all ranks --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_INTERPRETER_H
#define DIST_INTERPRETER_INTERPRETER_H

#include "dist/Interpreter/Evaluation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dist::interp {

/// True if the types of `module` have local shapes: its phase is local or
/// later, or it has a collective.
bool hasLocalShapes(mlir::ModuleOp module);

/// Runs the functions of a module, one op at a time on all ranks. Results are
/// the same bits on every run.
///
/// In phases with global shapes there is one rank, whatever the mesh says:
/// constraints and reshards are identities and encodings are ignored.
class Interpreter {
public:
  Interpreter(mlir::ModuleOp module, InterpreterOptions options);

  mlir::ModuleOp getModule() const { return module; }
  MeshOp getMesh() const { return mesh; }
  int64_t getNumRanks() const { return numRanks; }
  InterpreterOptions &getOptions() { return options; }

  /// Runs `func` on `arguments`, by argument and then by rank, which have the
  /// types' shapes. An error that is met is emitted on the op that met it.
  RankResults run(mlir::func::FuncOp func,
                  llvm::SmallVector<RankTensors, 1> arguments);

private:
  class Frame;

  RankResults evaluate(mlir::Operation *op,
                       llvm::ArrayRef<RankTensors> operands);
  RankResults evaluateOnRanks(const EvaluatorRegistry::Local &evaluate,
                              mlir::Operation *op,
                              llvm::ArrayRef<RankTensors> operands);

  mlir::ModuleOp module;
  InterpreterOptions options;
  MeshOp mesh;
  int64_t numRanks = 1;
  unsigned callDepth = 0;
  EvaluatorRegistry registry;
};

} // namespace dist::interp

#endif // DIST_INTERPRETER_INTERPRETER_H
