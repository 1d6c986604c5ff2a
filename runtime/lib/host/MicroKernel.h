//===- MicroKernel.h - Products of small tiles in registers -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to each instruction set, see Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_MICROKERNEL_H
#define DIST_RUNTIME_HOST_MICROKERNEL_H

#include "Vector.h"

namespace dist {
namespace {

/// Rows and columns of the block that is kept in registers: 6 x 2 vectors fit
/// 16 registers, 12 x 2 fit the 32 of AVX-512.
constexpr int64_t kBlockRows = DIST_VECTOR_BYTES == 64 ? 12 : 6;
template <typename T>
constexpr int64_t kBlockColumns = 2 * kLanes<T>;

/// How a product reads its left operand: a[i, p] or, transposed, a[p, i].
enum class Left { AsIs, Transposed };

/// c[Rows, kBlockColumns] (+)= a[Rows, k] * b[k, kBlockColumns].
template <typename T, Left L, int64_t Rows>
inline void multiplyBlock(const T *a, int64_t lda, const T *b, int64_t ldb,
                          T *c, int64_t ldc, int64_t k, bool accumulate) {
  Vec<T> left[Rows], right[Rows];
#pragma clang loop unroll(full)
  for (int64_t i = 0; i < Rows; ++i) {
    left[i] = accumulate ? load(c + i * ldc) : Vec<T>{};
    right[i] = accumulate ? load(c + i * ldc + kLanes<T>) : Vec<T>{};
  }
  for (int64_t p = 0; p < k; ++p) {
    Vec<T> b0 = load(b + p * ldb), b1 = load(b + p * ldb + kLanes<T>);
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < Rows; ++i) {
      T x = L == Left::AsIs ? a[i * lda + p] : a[p * lda + i];
      left[i] += x * b0;
      right[i] += x * b1;
    }
  }
#pragma clang loop unroll(full)
  for (int64_t i = 0; i < Rows; ++i) {
    store(c + i * ldc, left[i]);
    store(c + i * ldc + kLanes<T>, right[i]);
  }
}

/// The last rows of a tile, 1 <= m <= Rows of them.
template <typename T, Left L, int64_t Rows>
inline void multiplyRest(int64_t m, const T *a, int64_t lda, const T *b,
                         int64_t ldb, T *c, int64_t ldc, int64_t k,
                         bool accumulate) {
  if (m == Rows)
    return multiplyBlock<T, L, Rows>(a, lda, b, ldb, c, ldc, k, accumulate);
  if constexpr (Rows > 1)
    multiplyRest<T, L, Rows - 1>(m, a, lda, b, ldb, c, ldc, k, accumulate);
}

/// c[m, n] (+)= a[m, k] * b[k, n], row-major; n is a multiple of kBlockColumns.
template <typename T, Left L>
void multiply(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda,
              const T *b, int64_t ldb, T *c, int64_t ldc, bool accumulate) {
  int64_t step = L == Left::AsIs ? lda : 1;
  for (int64_t j = 0; j < n; j += kBlockColumns<T>) {
    int64_t i = 0;
    for (; i + kBlockRows <= m; i += kBlockRows)
      multiplyBlock<T, L, kBlockRows>(a + i * step, lda, b + j, ldb,
                                      c + i * ldc + j, ldc, k, accumulate);
    if (i < m)
      multiplyRest<T, L, kBlockRows - 1>(m - i, a + i * step, lda, b + j, ldb,
                                         c + i * ldc + j, ldc, k, accumulate);
  }
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_MICROKERNEL_H
