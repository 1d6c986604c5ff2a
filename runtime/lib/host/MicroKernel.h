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

/// Where the tile stands in a product. Of its row i only the columns before
/// i + edge count; work on the others is left out.
enum class Product {
  ToTile,        ///< tile = a * b; blocks that do not count are not written.
  FromTile,      ///< c = tile * b; the tile has zeros where it does not count.
  FromTransposed ///< c = tile^T * b; the same.
};

/// An edge beyond all columns.
constexpr int64_t kNoEdge = int64_t(1) << 60;

/// c[Rows, kBlockColumns] (+)= a[Rows, k] * b[k, kBlockColumns].
template <typename T, Product P, int64_t Rows>
inline void multiplyBlock(const T *a, int64_t lda, const T *b, int64_t ldb,
                          T *c, int64_t ldc, int64_t k, bool accumulate) {
  Vec<T> left[Rows], right[Rows];
#pragma clang loop unroll(full)
  for (int64_t i = 0; i < Rows; ++i) {
    left[i] = accumulate ? load(c + i * ldc) : Vec<T>{};
    right[i] = accumulate ? load(c + i * ldc + kLanes<T>) : Vec<T>{};
  }
  // A long product leaves the time to fetch what it will be stored to.
  if (k >= 128)
    for (int64_t i = 0; i < Rows; ++i)
      __builtin_prefetch(c + i * ldc, 1);
  for (int64_t p = 0; p < k; ++p) {
    Vec<T> b0 = load(b + p * ldb), b1 = load(b + p * ldb + kLanes<T>);
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < Rows; ++i) {
      T x = P == Product::FromTransposed ? a[p * lda + i] : a[i * lda + p];
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

/// The rows [i, i + Rows) of a product, without what the edge leaves out.
template <typename T, Product P, int64_t Rows>
inline void multiplyRows(int64_t i, int64_t j, int64_t k, const T *a,
                         int64_t lda, const T *b, int64_t ldb, T *c,
                         int64_t ldc, bool accumulate, int64_t edge) {
  int64_t first = 0, end = i + Rows - 1 + edge;
  if (P == Product::ToTile && j >= end)
    return;
  if (P == Product::FromTile)
    k = most(least(k, end), 0);
  if (P == Product::FromTransposed)
    first = least(most(i - edge + 1, 0), k);
  a += P == Product::FromTransposed ? first * lda + i : i * lda;
  multiplyBlock<T, P, Rows>(a, lda, b + first * ldb + j, ldb, c + i * ldc + j,
                            ldc, k - first, accumulate);
}

/// The last rows, m - i <= Rows of them.
template <typename T, Product P, int64_t Rows>
inline void multiplyRest(int64_t m, int64_t i, int64_t j, int64_t k, const T *a,
                         int64_t lda, const T *b, int64_t ldb, T *c,
                         int64_t ldc, bool accumulate, int64_t edge) {
  if (m - i == Rows)
    return multiplyRows<T, P, Rows>(i, j, k, a, lda, b, ldb, c, ldc, accumulate,
                                    edge);
  if constexpr (Rows > 1)
    multiplyRest<T, P, Rows - 1>(m, i, j, k, a, lda, b, ldb, c, ldc, accumulate,
                                 edge);
}

/// c[m, n] (+)= a[m, k] * b[k, n], row-major, where FromTransposed reads
/// a[k, m]; n is a multiple of kBlockColumns.
template <typename T, Product P>
void multiply(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda,
              const T *b, int64_t ldb, T *c, int64_t ldc, bool accumulate,
              int64_t edge = kNoEdge) {
  for (int64_t j = 0; j < n; j += kBlockColumns<T>) {
    int64_t i = 0;
    for (; i + kBlockRows <= m; i += kBlockRows)
      multiplyRows<T, P, kBlockRows>(i, j, k, a, lda, b, ldb, c, ldc,
                                     accumulate, edge);
    if (i < m)
      multiplyRest<T, P, kBlockRows - 1>(m, i, j, k, a, lda, b, ldb, c, ldc,
                                         accumulate, edge);
  }
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_MICROKERNEL_H
