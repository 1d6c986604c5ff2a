//===- TinyProgram.h - Least squares, data parallel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_CORE_TINYPROGRAM_H
#define DIST_RUNTIME_TEST_CORE_TINYPROGRAM_H

#include "HandProgram.h"

/// Least squares, data parallel: y = x w with x of 5 x 3 and w of 3, the mean
/// of squares as loss, its gradient, its norm and a step of SGD. The 5 rows are
/// split over `dp` in ceiling blocks; `w` is stored whole, its momentum `m:w`
/// (the sum of the gradients) split over `dp`.
struct TinyProgram : HandProgram {
  static constexpr int64_t kRows = 5, kColumns = 3, kParameterOffset = 128;

  explicit TinyProgram(int64_t ranks, int64_t threads = 1);
};

/// What a test wants the segment of the forward pass to do besides.
struct TinyHook {
  void (*body)(dist_rank *rank, int64_t step) = nullptr;
};
extern TinyHook tinyHook;

#endif // DIST_RUNTIME_TEST_CORE_TINYPROGRAM_H
