//===- LrSchedule.h - The learning rate of a step ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With t the step (from 1), w = warmup, T = steps, lr and min the rates:
//
//   t <= w            lr * t / w
//   no decay          lr
//   t > T             min
//   otherwise         min + (lr - min) * c, where with r = (t - w) / (T - w)
//     cosine          c = (1 + cos(pi r)) / 2
//     linear          c = 1 - r
//     wsd             c = 1 until the last D = ceil(T / 10) steps (at most
//                     T - w), then 2 * 0.5^s - 1 with s = (t - (T - D)) / D
//
// These are Megatron's formulas (wsd with its exponential anneal) at t where
// Megatron is at t - 1: the first step is not spent on a rate of 0.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_LRSCHEDULE_H
#define DIST_RUNTIME_IO_LRSCHEDULE_H

#include "io/Error.h"

#include <cstdint>
#include <string_view>

namespace dist::io {

enum class Decay { None, Cosine, Linear, Wsd };

class LrSchedule {
public:
  /// `decay` is "" (none), "cosine", "linear" or "wsd". Rates are finite,
  /// 0 <= minLr <= lr; counts are not negative.
  static Expected<LrSchedule> create(double lr, double minLr, int64_t warmup,
                                     std::string_view decay, int64_t steps);

  /// The rate of `step`, which counts from 1.
  double at(int64_t step) const;

private:
  LrSchedule() = default;

  double lr = 0, minLr = 0;
  int64_t warmup = 0, steps = 0;
  Decay decay = Decay::None;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_LRSCHEDULE_H
