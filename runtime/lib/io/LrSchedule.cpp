//===- LrSchedule.cpp - The learning rate of a step -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/LrSchedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

using namespace dist::io;

static std::optional<Decay> parseDecay(std::string_view name) {
  if (name.empty())
    return Decay::None;
  if (name == "cosine")
    return Decay::Cosine;
  if (name == "linear")
    return Decay::Linear;
  if (name == "wsd")
    return Decay::Wsd;
  return std::nullopt;
}

Expected<LrSchedule> LrSchedule::create(double lr, double minLr, int64_t warmup,
                                        std::string_view decay, int64_t steps) {
  std::optional<Decay> kind = parseDecay(decay);
  if (!kind)
    return makeError("--decay is '%.*s'; expected cosine, linear or wsd",
                     static_cast<int>(decay.size()), decay.data());
  if (!std::isfinite(lr) || lr < 0)
    return makeError("--lr is %g; expected a finite number, not below 0", lr);
  if (!(minLr >= 0 && minLr <= lr))
    return makeError("--min-lr is %g; expected a number from 0 to --lr, %g",
                     minLr, lr);
  if (warmup < 0)
    return makeError("--warmup is %lld; expected a number of steps",
                     static_cast<long long>(warmup));
  if (steps < 0)
    return makeError("--steps is %lld; expected a number of steps",
                     static_cast<long long>(steps));
  LrSchedule schedule;
  schedule.lr = lr;
  schedule.minLr = minLr;
  schedule.warmup = warmup;
  schedule.steps = steps;
  schedule.decay = *kind;
  return schedule;
}

/// How much of lr - min is left at `step`, warmup < step <= steps.
static double coefficient(Decay decay, int64_t step, int64_t warmup,
                          int64_t steps) {
  double length = static_cast<double>(steps - warmup);
  double done = static_cast<double>(step - warmup) / length;
  if (decay == Decay::Cosine)
    return 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  if (decay == Decay::Linear)
    return 1.0 - done;
  int64_t anneal = std::min((steps + 9) / 10, steps - warmup);
  int64_t start = steps - anneal;
  if (step <= start)
    return 1.0;
  double annealed = static_cast<double>(step - start) / anneal;
  return 2.0 * std::pow(0.5, annealed) - 1.0;
}

double LrSchedule::at(int64_t step) const {
  if (step <= warmup)
    return warmup == 0 ? lr : lr * static_cast<double>(step) / warmup;
  if (decay == Decay::None)
    return lr;
  if (step > steps)
    return minLr;
  return minLr + (lr - minLr) * coefficient(decay, step, warmup, steps);
}
