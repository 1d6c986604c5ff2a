//===- Comparison.h - How far results are apart -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_COMPARISON_H
#define DIST_INTERPRETER_COMPARISON_H

#include "dist/Interpreter/Tensor.h"

namespace dist::interp {

/// The error of one result.
struct Difference {
  std::string name;
  /// max|a − b| ÷ max|b|; of a gradient ÷ max(max|b|, 1e-2 × the largest entry
  /// of all gradients); of a parameter ÷ max(max|b|, lr·steps). Infinite where
  /// the shapes differ, `a` lacks it, or one holds a NaN that the other does
  /// not.
  double error;
};

/// The errors of `a` for every result of `reference`, in its order.
std::vector<Difference> compare(const NamedTensors &a,
                                const NamedTensors &reference,
                                double learningRate, int64_t numSteps);

} // namespace dist::interp

#endif // DIST_INTERPRETER_COMPARISON_H
