//===- Reduce.cpp - Elementwise reduction of several buffers --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "host/Reduce.h"

#include "core/DType.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace dist;

/// What elements of type T are reduced in.
template <typename T>
using Wide = std::conditional_t<
    std::is_arithmetic_v<T>,
    std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                       std::type_identity<T>>,
    std::type_identity<float>>::type;

/// Elements held between reading and writing; fits the first cache.
static constexpr int64_t kBlock = 1024;

template <typename T, dist_monoid monoid>
static void accumulate(Wide<T> *sum, const T *from, int64_t count) {
  using W = Wide<T>;
  for (int64_t i = 0; i < count; ++i) {
    W a = sum[i], b = static_cast<W>(from[i]);
    if constexpr (monoid == DIST_SUM) {
      sum[i] = a + b;
    } else if constexpr (std::is_integral_v<T>) {
      T left = static_cast<T>(a), right = static_cast<T>(b);
      sum[i] = static_cast<W>(monoid == DIST_MAX ? std::max(left, right)
                                                 : std::min(left, right));
    } else {
      bool better = monoid == DIST_MAX ? b > a : b < a;
      sum[i] = better || b != b ? b : a;
    }
  }
}

template <typename T, dist_monoid monoid>
static void reduceBlocks(std::span<const void *const> from,
                         std::span<void *const> to, int64_t lo, int64_t hi) {
  Wide<T> sum[kBlock];
  T rounded[kBlock];
  for (int64_t at = lo; at < hi; at += kBlock) {
    int64_t count = std::min(kBlock, hi - at);
    const T *first = static_cast<const T *>(from[0]) + at;
    for (int64_t i = 0; i < count; ++i)
      sum[i] = static_cast<Wide<T>>(first[i]);
    for (const void *operand : from.subspan(1))
      accumulate<T, monoid>(sum, static_cast<const T *>(operand) + at, count);
    for (int64_t i = 0; i < count; ++i)
      rounded[i] = static_cast<T>(sum[i]);
    for (void *result : to)
      std::memcpy(static_cast<T *>(result) + at, rounded, count * sizeof(T));
  }
}

void dist::reduce(dist_dtype dtype, dist_monoid monoid,
                  std::span<const void *const> from, std::span<void *const> to,
                  int64_t lo, int64_t hi) {
  dispatch(dtype, [&](auto element) {
    using T = decltype(element);
    switch (monoid) {
    case DIST_SUM:
      return reduceBlocks<T, DIST_SUM>(from, to, lo, hi);
    case DIST_MAX:
      return reduceBlocks<T, DIST_MAX>(from, to, lo, hi);
    case DIST_MIN:
      return reduceBlocks<T, DIST_MIN>(from, to, lo, hi);
    }
  });
}
