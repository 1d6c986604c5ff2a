//===- DropoutMask.h - Which probabilities a dropout keeps ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10, a vector of blocks at a time. Internal to each instruction
// set, see Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_DROPOUTMASK_H
#define DIST_RUNTIME_HOST_DROPOUTMASK_H

#include "Vector.h"

namespace dist {
namespace {

/// 32-bit words in 64-bit lanes: the form that the wide product wants.
using Words = Vec<uint64_t>;
constexpr uint64_t kLowWord = 0xffffffff;

/// The blocks with counters (counter low, high, 0, 0) under `key`; block[w] is
/// their word w.
inline void philox(Words counter, const int32_t *key, Words block[4]) {
  Words c0 = counter & kLowWord, c1 = counter >> 32, c2{}, c3{};
  uint32_t k0 = uint32_t(key[0]), k1 = uint32_t(key[1]);
  for (int round = 0; round < 10; ++round) {
    Words p0 = c0 * 0xd2511f53, p1 = c2 * 0xcd9e8d57;
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c1 = p1 & kLowWord;
    c3 = p0 & kLowWord;
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  block[0] = c0, block[1] = c1, block[2] = c2, block[3] = c3;
}

/// The mask of a dropout, over the row-major index in the global tensor.
struct DropoutMask {
  const int32_t *key;
  uint64_t threshold; ///< An element is kept iff its word is below.
  double keptScale;

  DropoutMask(const int32_t *key, double rate)
      : key(key), threshold(uint64_t((1 - rate) * 0x1p32)),
        keptScale(1 / (1 - rate)) {}

  /// factors[i] = what element `first + i` is multiplied with, for i < count.
  template <typename T>
  void factors(uint64_t first, int64_t count, T *factors) const {
    constexpr int64_t lanes = kLanes<uint64_t>;
    Words lane;
    for (int64_t i = 0; i < lanes; ++i)
      lane[i] = uint64_t(i);
    // The element at `at` starts a block; the first ones may lie before 0.
    for (int64_t at = -int64_t(first % 4); at < count; at += 4 * lanes) {
      Words block[4];
      philox(uint64_t(int64_t(first) + at) / 4 + lane, key, block);
      for (int64_t i = 0; i < 4 * lanes; ++i)
        if (at + i >= 0 && at + i < count)
          factors[at + i] =
              block[i % 4][i / 4] < threshold ? T(keptScale) : T();
    }
  }
};

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_DROPOUTMASK_H
