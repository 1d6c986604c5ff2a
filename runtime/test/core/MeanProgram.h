//===- MeanProgram.h - Means of tokens and targets --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_CORE_MEANPROGRAM_H
#define DIST_RUNTIME_TEST_CORE_MEANPROGRAM_H

#include "HandProgram.h"

/// The loss is the mean of all targets of a batch of 4 x 3, the evaluation loss
/// that of all tokens. The batch is split over `dp`.
struct MeanProgram : HandProgram {
  static constexpr int64_t kBatch = 4, kSeq = 3, kVocab = 128;

  explicit MeanProgram(int64_t ranks);

  /// Called by the segment.
  inline static void (*hook)(dist_rank *rank) = nullptr;
};

#endif // DIST_RUNTIME_TEST_CORE_MEANPROGRAM_H
