//===- InputSource.h - Where arguments come from ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_INPUTSOURCE_H
#define DIST_INTERPRETER_INPUTSOURCE_H

#include "dist/Interpreter/Program.h"
#include "llvm/Support/Error.h"

namespace dist::interp {

struct InputOptions {
  uint64_t seed = 0;
  double learningRate = 1e-3;
  /// The first step and how many are run.
  int64_t firstStep = 1, numSteps = 1;
  /// Also draws what has no initial value: parameters without `nn.init`, and
  /// states, which else are zeros. These from [½, 1): a sum that is 0 but for
  /// rounding is then added to something, and AdamW divides by no less.
  bool drawAll = false;
};

/// Fills arguments by name: from a file; else parameters by `nn.init`, states
/// with zeros and inputs at random, as functions of (seed, name, element).
class InputSource {
public:
  explicit InputSource(InputOptions options) : options(options) {}

  const InputOptions &getOptions() const { return options; }

  /// Takes tensors from `file` first, by the names of ports; parameters and
  /// states also without the `param:` or `state:` in front.
  void setFile(const NamedTensors &file) { this->file = &file; }

  /// Shapes of the file's tensors by the names of the ports that they fill.
  NamedShapes getShapes() const;

  /// Adds to `inputs` what `program` takes and they lack. Emits an error where
  /// a parameter has neither a value nor an `nn.init`, or a tensor has another
  /// shape or type.
  mlir::LogicalResult fill(Program &program, NamedTensors &inputs) const;

  /// Runs the steps; parameters and states of one are those of the next.
  /// Returns the results of the last.
  mlir::FailureOr<NamedTensors> run(Program &program,
                                    NamedTensors inputs) const;

private:
  mlir::FailureOr<Tensor> get(Program &program, unsigned number) const;
  mlir::FailureOr<Tensor> convert(Program &program, const Port &port,
                                  const Tensor &tensor) const;
  mlir::FailureOr<Tensor> initialize(Program &program, const Port &port) const;
  mlir::FailureOr<Tensor> initialize(Program &program, const Port &port,
                                     llvm::StringRef init) const;
  Tensor draw(Program &program, const Port &port,
              mlir::BlockArgument argument) const;
  void setStep(Program &program, int64_t step, NamedTensors &inputs) const;

  InputOptions options;
  const NamedTensors *file = nullptr;
};

/// Reads all tensors of a safetensors file; other integers become i64, checked.
llvm::Expected<NamedTensors> readTensors(llvm::StringRef path);

/// Writes a safetensors file.
llvm::Error writeTensors(llvm::StringRef path, const NamedTensors &tensors);

} // namespace dist::interp

#endif // DIST_INTERPRETER_INPUTSOURCE_H
