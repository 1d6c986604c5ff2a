//===- Init.cpp - Initial values of parameters ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Init.h"
#include "io/Philox.h"

#include <charconv>
#include <cmath>
#include <numbers>

using namespace dist::io;

/// Takes the next word off the front of `text`; empty at the end.
static std::string_view takeWord(std::string_view &text) {
  size_t begin = std::min(text.find_first_not_of(' '), text.size());
  size_t end = std::min(text.find(' ', begin), text.size());
  std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

static bool takeNumber(std::string_view &text, double &value) {
  std::string_view word = takeWord(text);
  auto [end, failure] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc() && end == word.data() + word.size() &&
         !word.empty() && std::isfinite(value);
}

Expected<Init> Init::parse(std::string_view text) {
  std::string_view rest = text;
  std::string_view kind = takeWord(rest);
  double first = 0, second = 0;
  std::optional<Init> init;
  if (kind == "zeros")
    init = Init(Kind::Zeros);
  else if (kind == "ones")
    init = Init(Kind::Ones);
  else if (kind == "normal" && takeNumber(rest, first) && first >= 0)
    init = Init(Kind::Normal, first);
  else if (kind == "uniform" && takeNumber(rest, first) &&
           takeNumber(rest, second) && first <= second)
    init = Init(Kind::Uniform, first, second);
  if (!init || !takeWord(rest).empty())
    return makeError("initial value '%.*s'; expected 'zeros', 'ones', 'normal "
                     "STD' with STD >= 0 or 'uniform LO HI' with LO <= HI",
                     static_cast<int>(text.size()), text.data());
  return *init;
}

/// A uniform number from two words; on [0, 1] after rounding, never 0.
static double uniform(uint32_t high, uint32_t low) {
  uint64_t bits = (uint64_t(high) << 32 | low) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

static double normal(PhiloxBlock words) {
  double radius = std::sqrt(-2.0 * std::log(uniform(words[0], words[1])));
  return radius *
         std::cos(2.0 * std::numbers::pi * uniform(words[2], words[3]));
}

double Init::getValue(PhiloxKey key, uint64_t index) const {
// The value is defined by single f64 operations, on every machine.
#pragma STDC FP_CONTRACT OFF
  switch (kind) {
  case Kind::Zeros:
    return 0;
  case Kind::Ones:
    return 1;
  case Kind::Normal:
    return normal(philoxAt(key, index, 0, 3)) * first;
  case Kind::Uniform:
    break;
  }
  PhiloxBlock words = philoxAt(key, index, 0, 3);
  double scaled = uniform(words[0], words[1]) * (second - first);
  return first + scaled;
}

double Init::getValue(std::string_view name, uint64_t seed,
                      uint64_t index) const {
  return getValue(parameterKey(name, seed), index);
}

void Init::fill(std::string_view name, uint64_t seed, const TensorBlock &block,
                ElementType written, ElementType stored, void *local) const {
  PhiloxKey key = parameterKey(name, seed);
  int64_t bytes = getByteSize(stored);
  auto *base = static_cast<std::byte *>(local);
  block.forEachRow([&](int64_t global, int64_t target, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      double value = getValue(key, global + i);
      if (written != stored) {
        storeFloat(written, value, &value);
        value = loadFloat(written, &value);
      }
      storeFloat(stored, value, base + (target + i) * bytes);
    }
  });
}
