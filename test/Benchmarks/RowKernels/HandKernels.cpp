//===- HandKernels.cpp - Kernels written with intrinsics ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandKernels.h"
#include <cmath>
#include <initializer_list>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

using namespace dist::test;

using Vec = __m256;

static Vec splat(float value) { return _mm256_set1_ps(value); }

static float reduceAdd(Vec v) {
  __m128 half =
      _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}

static float reduceMax(Vec v) {
  __m128 half =
      _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}

/// The polynomial of the compiler, without its care for NaN and infinity.
static Vec expOf(Vec x) {
  const Vec magic = splat(12582912.0f);
  x = _mm256_max_ps(_mm256_min_ps(x, splat(88.3f)), splat(-87.3f));
  Vec s = _mm256_fmadd_ps(x, splat(1.44269504f), magic);
  Vec n = _mm256_sub_ps(s, magic);
  Vec r = _mm256_fmadd_ps(n, splat(2.12194440e-4f),
                          _mm256_fmadd_ps(n, splat(-0.693359375f), x));
  Vec p = splat(1.9875691500e-4f);
  for (float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                  1.6666665459e-1f, 5.0000001201e-1f})
    p = _mm256_fmadd_ps(p, r, splat(c));
  p = _mm256_add_ps(_mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r), splat(1));
  __m256i power =
      _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(s), 23),
                       _mm256_set1_epi32(0x3f800000));
  return _mm256_mul_ps(p, _mm256_castsi256_ps(power));
}

bool dist::test::hasHandKernels() { return true; }

void dist::test::softmaxByHand(const float *x, float *y, int64_t rows,
                               int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    Vec max0 = splat(-INFINITY), max1 = max0;
    for (int64_t j = 0; j < columns; j += 16) {
      max0 = _mm256_max_ps(max0, _mm256_loadu_ps(x + j));
      max1 = _mm256_max_ps(max1, _mm256_loadu_ps(x + j + 8));
    }
    Vec max = splat(reduceMax(_mm256_max_ps(max0, max1)));
    Vec sum0 = splat(0), sum1 = sum0;
    for (int64_t j = 0; j < columns; j += 16) {
      Vec a = expOf(_mm256_sub_ps(_mm256_loadu_ps(x + j), max));
      Vec b = expOf(_mm256_sub_ps(_mm256_loadu_ps(x + j + 8), max));
      sum0 = _mm256_add_ps(sum0, a);
      sum1 = _mm256_add_ps(sum1, b);
      _mm256_storeu_ps(y + j, a);
      _mm256_storeu_ps(y + j + 8, b);
    }
    Vec scale = splat(1 / reduceAdd(_mm256_add_ps(sum0, sum1)));
    for (int64_t j = 0; j < columns; j += 8)
      _mm256_storeu_ps(y + j, _mm256_mul_ps(_mm256_loadu_ps(y + j), scale));
  }
}

void dist::test::layerNormByHand(const float *x, const float *gamma,
                                 const float *beta, float *y, float *mean,
                                 float *rstd, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    Vec sum0 = splat(0), sum1 = sum0;
    for (int64_t j = 0; j < columns; j += 16) {
      sum0 = _mm256_add_ps(sum0, _mm256_loadu_ps(x + j));
      sum1 = _mm256_add_ps(sum1, _mm256_loadu_ps(x + j + 8));
    }
    mean[r] = reduceAdd(_mm256_add_ps(sum0, sum1)) / columns;
    Vec mu = splat(mean[r]);
    Vec square0 = splat(0), square1 = square0;
    for (int64_t j = 0; j < columns; j += 16) {
      Vec a = _mm256_sub_ps(_mm256_loadu_ps(x + j), mu);
      Vec b = _mm256_sub_ps(_mm256_loadu_ps(x + j + 8), mu);
      square0 = _mm256_fmadd_ps(a, a, square0);
      square1 = _mm256_fmadd_ps(b, b, square1);
    }
    float variance = reduceAdd(_mm256_add_ps(square0, square1)) / columns;
    rstd[r] = 1 / std::sqrt(variance + 1e-5f);
    Vec scale = splat(rstd[r]);
    for (int64_t j = 0; j < columns; j += 8) {
      Vec hat = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + j), mu), scale);
      _mm256_storeu_ps(y + j, _mm256_fmadd_ps(hat, _mm256_loadu_ps(gamma + j),
                                              _mm256_loadu_ps(beta + j)));
    }
  }
}

void dist::test::biasGeluByHand(const float *x, const float *bias, float *y,
                                int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns)
    for (int64_t j = 0; j < columns; j += 8) {
      Vec u = _mm256_add_ps(_mm256_loadu_ps(x + j), _mm256_loadu_ps(bias + j));
      Vec z = _mm256_fmadd_ps(_mm256_mul_ps(u, u), splat(0.044715f), splat(1));
      z = _mm256_mul_ps(_mm256_mul_ps(u, z), splat(-1.59576912f));
      Vec below = _mm256_add_ps(splat(1), expOf(z));
      _mm256_storeu_ps(y + j, _mm256_div_ps(u, below));
    }
}

void dist::test::layerNormGradByHand(const float *x, const float *gamma,
                                     const float *mean, const float *rstd,
                                     const float *dy, float *dx, float *dgamma,
                                     float *dbeta, int64_t rows,
                                     int64_t columns) {
  for (int64_t j = 0; j < columns; ++j)
    dgamma[j] = 0;
  for (int64_t r = 0; r < rows;
       ++r, x += columns, dy += columns, dx += columns) {
    Vec mu = splat(mean[r]), scale = splat(rstd[r]);
    Vec s1 = splat(0), s2 = s1;
    for (int64_t j = 0; j < columns; j += 8) {
      Vec hat = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + j), mu), scale);
      Vec d = _mm256_loadu_ps(dy + j);
      Vec g = _mm256_mul_ps(d, _mm256_loadu_ps(gamma + j));
      s1 = _mm256_add_ps(s1, g);
      s2 = _mm256_fmadd_ps(g, hat, s2);
      _mm256_storeu_ps(dgamma + j,
                       _mm256_fmadd_ps(d, hat, _mm256_loadu_ps(dgamma + j)));
      _mm256_storeu_ps(dbeta + j, _mm256_add_ps(d, _mm256_loadu_ps(dbeta + j)));
    }
    Vec m1 = splat(reduceAdd(s1) / columns),
        m2 = splat(reduceAdd(s2) / columns);
    for (int64_t j = 0; j < columns; j += 8) {
      Vec hat = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + j), mu), scale);
      Vec g =
          _mm256_mul_ps(_mm256_loadu_ps(dy + j), _mm256_loadu_ps(gamma + j));
      Vec d = _mm256_sub_ps(_mm256_sub_ps(g, m1), _mm256_mul_ps(hat, m2));
      _mm256_storeu_ps(dx + j, _mm256_mul_ps(d, scale));
    }
  }
}

#else

bool dist::test::hasHandKernels() { return false; }
void dist::test::softmaxByHand(const float *, float *, int64_t, int64_t) {}
void dist::test::layerNormByHand(const float *, const float *, const float *,
                                 float *, float *, float *, int64_t, int64_t) {}
void dist::test::biasGeluByHand(const float *, const float *, float *, int64_t,
                                int64_t) {}
void dist::test::layerNormGradByHand(const float *, const float *,
                                     const float *, const float *,
                                     const float *, float *, float *, float *,
                                     int64_t, int64_t) {}

#endif
