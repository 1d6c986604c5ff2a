//===- Program.h - A function run by the names of its tensors ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_PROGRAM_H
#define DIST_INTERPRETER_PROGRAM_H

#include "dist/Interpreter/BlockLayout.h"
#include "dist/Interpreter/Interpreter.h"

namespace dist::interp {

/// What an argument or a result of an entry function is.
enum class Role { Param, State, Grad, Input, Key, Rate, Step, Other };

/// An argument or a result of an entry function.
struct Port {
  /// `param:NAME`, `state:NAME`, `grad:NAME`, `loss`, `grad_norm`, `key`, `lr`,
  /// `step`, the name of an input or metric; `argN` or `resultN` without one.
  std::string name;
  Role role = Role::Other;
  /// On one rank, as written: `f64` does not change it.
  mlir::RankedTensorType type;
  /// The element type in the model: `nn.written`, else that of `type`.
  mlir::Type written;
  /// `nn.init`, or null.
  mlir::StringAttr init;
  BlockLayout layout;

  llvm::ArrayRef<int64_t> getShape() const { return layout.getLogicalShape(); }
};

/// Logical shapes by the names of ports.
using NamedShapes = llvm::StringMap<Shape>;

/// An entry function of any phase, run on global tensors of logical shape.
class Program {
public:
  /// Finds `entry` (by default `step` from that phase on, else `loss`, else the
  /// only public function) and names its arguments and results. `shapes` helps
  /// where local types do not say how large a divided dimension is. Emits an
  /// error where there is no such function, two ports have one name, or an
  /// attribute does not fit its type.
  static mlir::FailureOr<Program> create(mlir::ModuleOp module,
                                         llvm::StringRef entry,
                                         InterpreterOptions options,
                                         const NamedShapes &shapes = {});

  mlir::func::FuncOp getFunction() const { return function; }
  const InterpreterOptions &getOptions() { return interpreter.getOptions(); }
  llvm::ArrayRef<Port> getArguments() const { return arguments; }
  llvm::ArrayRef<Port> getResults() const { return results; }
  NamedShapes getShapes() const;

  /// The kind that values of `port` have under the options.
  ElementKind getKind(const Port &port);

  /// Runs one step, which messages call `step`. `inputs` has a tensor for
  /// every argument, of its logical shape and kind.
  mlir::FailureOr<NamedTensors> run(const NamedTensors &inputs, int64_t step);

private:
  Program(mlir::func::FuncOp function, InterpreterOptions options)
      : function(function),
        interpreter(function->getParentOfType<mlir::ModuleOp>(), options) {}

  mlir::LogicalResult addPorts(const NamedShapes &shapes);
  mlir::LogicalResult addPort(Port port, mlir::Type type,
                              mlir::DictionaryAttr attrs,
                              const NamedShapes &shapes,
                              llvm::SmallVectorImpl<Port> &ports);

  mlir::func::FuncOp function;
  Interpreter interpreter;
  llvm::SmallVector<Port, 0> arguments, results;
};

/// One more than the largest number that integer `argument` may hold as an
/// index, by the ops that read it; none if nothing bounds it.
std::optional<int64_t> inferIdBound(mlir::BlockArgument argument);

} // namespace dist::interp

#endif // DIST_INTERPRETER_PROGRAM_H
