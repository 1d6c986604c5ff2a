//===- Vector.h - SIMD vectors of one instruction set -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included once by the source file of each instruction set, which defines
// DIST_VECTOR_BYTES and is compiled for that set. Everything has internal
// linkage: were it shared, the linker could keep a copy that was compiled for
// another set. For the same reason nothing of the standard library is used.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_VECTOR_H
#define DIST_RUNTIME_HOST_VECTOR_H

#include <cstdint>

namespace dist {
namespace {

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(DIST_VECTOR_BYTES)));
};
template <typename T>
using Vec = typename VectorOf<T>::Type;

/// Lanes of a vector.
template <typename T>
constexpr int64_t kLanes = DIST_VECTOR_BYTES / int64_t(sizeof(T));

template <typename T>
inline Vec<T> load(const T *from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <typename T>
inline void store(T *to, Vec<T> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

template <typename To, typename From>
inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

inline int64_t roundUp(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}
inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/// e^x within 1.1 ulp; exact 0 below the normal numbers, inf above the largest,
/// NaN for NaN.
inline Vec<float> exp(Vec<float> x) {
  using Int = Vec<int32_t>;
  Vec<float> s = x * 1.44269504f + 12582912.0f, n = s - 12582912.0f;
  Vec<float> r = n * 2.12194440e-4f + (n * -0.693359375f + x);
  Vec<float> p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  Int power = (bitCast<Int>(s) << 23) + 0x3f800000;
  Vec<float> y = p * bitCast<Vec<float>>(power);
  y = x < -87.33f ? Vec<float>{} : y;
  return x > 88.37f ? Vec<float>{} + __builtin_inff() : y;
}

inline Vec<double> exp(Vec<double> x) {
  for (int64_t i = 0; i < kLanes<double>; ++i)
    x[i] = __builtin_exp(x[i]);
  return x;
}

template <typename T>
inline T exp(T x) {
  return exp(Vec<T>{} + x)[0];
}

inline float log(float x) { return __builtin_logf(x); }
inline double log(double x) { return __builtin_log(x); }

/// tanh within 2 ulp. Near 0 an odd polynomial: 1 - 2 / (e^2x + 1) cancels.
inline Vec<float> tanh(Vec<float> x) {
  Vec<float> z = x * x;
  Vec<float> p = z * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  Vec<float> small = p * z * x + x;
  Vec<float> large = 1.0f - 2.0f / (exp(2.0f * x) + 1.0f);
  return ((x < 0.625f) & (x > -0.625f)) ? small : large;
}

inline Vec<double> tanh(Vec<double> x) {
  for (int64_t i = 0; i < kLanes<double>; ++i)
    x[i] = __builtin_tanh(x[i]);
  return x;
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_VECTOR_H
