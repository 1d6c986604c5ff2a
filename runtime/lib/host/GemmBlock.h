//===- GemmBlock.h - One block of a matrix product --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs both operands piece by piece, so rows may lie at any distance (also at
// powers of two, where caches conflict) and strides be any. Internal to each
// instruction set, see Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_GEMMBLOCK_H
#define DIST_RUNTIME_HOST_GEMMBLOCK_H

#include "Kernels.h"
#include "MicroKernel.h"
#include "Scratch.h"

namespace dist {
namespace {

/// A piece of the left operand stays in the second-level cache, a panel of the
/// right one in the first.
constexpr int64_t kGemmRows = 96, kGemmDepth = 256;

template <typename T>
class GemmBlock {
public:
  GemmBlock(const GemmCall &call, int64_t matrix, int64_t row, int64_t column)
      : desc(*call.desc), rows(least(call.rows, desc.m - row)),
        columns(least(call.columns, desc.n - column)),
        leftIsTransposed(desc.a_row == 1 && desc.a_column != 1),
        a(static_cast<const T *>(call.a) + matrix * desc.a_batch +
          row * desc.a_row),
        b(static_cast<const T *>(call.b) + matrix * desc.b_batch +
          column * desc.b_column),
        c(static_cast<T *>(call.c) + matrix * desc.c_batch + row * desc.c_row +
          column * desc.c_column) {
    cut(ScratchCutter());
  }

  void run() {
    cut(ScratchCutter(threadScratch(bytes)));
    int64_t p = 0;
    do {
      depth = least(kGemmDepth, desc.k - p);
      accumulate = desc.accumulate || p > 0;
      packRight(b + p * desc.b_row);
      for (int64_t i = 0; i < rows; i += kGemmRows) {
        int64_t some = least(kGemmRows, rows - i);
        takeLeft(a + i * desc.a_row + p * desc.a_column, some);
        multiplyRows(i, some);
      }
      p += depth;
    } while (p < desc.k);
  }

private:
  static constexpr int64_t kWidth = kBlockColumns<T>;
  /// Rows of the packed left operand lie in different sets of the cache.
  static constexpr int64_t kLeftStride = kGemmDepth + 16;

  void cut(ScratchCutter cutter) {
    left = cutter.take<T>(kGemmRows * kLeftStride);
    right = cutter.take<T>((kGemmDepth + 1) * roundUp(columns, kWidth));
    edge = cutter.take<T>(kGemmRows * kWidth);
    bytes = cutter.bytes();
  }

  /// To panels [depth][kWidth], zeros behind the last column.
  void packRight(const T *from) {
    int64_t whole = desc.b_column == 1 ? columns / kWidth * kWidth : 0;
    for (int64_t p = 0; p < depth; ++p)
      for (int64_t j = 0; j < whole; j += kWidth)
        __builtin_memcpy(panel(j) + p * kWidth, from + p * desc.b_row + j,
                         kWidth * sizeof(T));
    for (int64_t j = whole; j < columns; j += kWidth)
      packPanel(from + j * desc.b_column, least(kWidth, columns - j), panel(j));
  }

  void packPanel(const T *from, int64_t some, T *to) {
    for (int64_t l = 0; l < kWidth; ++l)
      for (int64_t p = 0; p < depth; ++p)
        to[p * kWidth + l] =
            l < some ? from[p * desc.b_row + l * desc.b_column] : 0;
  }

  /// Panels are a line more apart than they are long: at a power of two their
  /// lines would compete for one set of the cache.
  T *panel(int64_t column) {
    return right + column / kWidth * (kGemmDepth + 1) * kWidth;
  }

  /// In place where its rows are contiguous; else packed to
  /// [some][kLeftStride], or where its columns are to [depth][kGemmRows].
  void takeLeft(const T *from, int64_t some) {
    leftAt = left, leftStride = kLeftStride;
    if (desc.a_column == 1) {
      leftAt = from, leftStride = desc.a_row;
    } else if (leftIsTransposed) {
      leftStride = kGemmRows;
      for (int64_t p = 0; p < depth; ++p) {
        for (int64_t i = 0; i < some; i += 64 / int64_t(sizeof(T)))
          __builtin_prefetch(from + (p + 8) * desc.a_column + i);
        copy(from + p * desc.a_column, 1, some, left + p * kGemmRows);
      }
    } else {
      for (int64_t i = 0; i < some; ++i)
        copy(from + i * desc.a_row, desc.a_column, depth,
             left + i * kLeftStride);
    }
  }

  static void copy(const T *from, int64_t stride, int64_t count, T *to) {
    int64_t i = 0;
    if (stride == 1)
      for (; i + kLanes<T> <= count; i += kLanes<T>)
        store(to + i, load(from + i));
    for (; i < count; ++i)
      to[i] = from[i * stride];
  }

  /// The rows [i, i + some) of the block.
  void multiplyRows(int64_t i, int64_t some) {
    T *to = c + i * desc.c_row;
    for (int64_t j = 0; j < columns; j += kWidth) {
      int64_t width = least(kWidth, columns - j);
      T *at = to + j * desc.c_column;
      if (desc.c_column == 1 && width == kWidth) {
        multiplyPanel(some, panel(j), at, desc.c_row, accumulate);
        continue;
      }
      multiplyPanel(some, panel(j), edge, kWidth, false);
      for (int64_t l = 0; l < some; ++l)
        for (int64_t x = 0; x < width; ++x) {
          T *element = at + l * desc.c_row + x * desc.c_column;
          *element = edge[l * kWidth + x] + (accumulate ? *element : 0);
        }
    }
  }

  void multiplyPanel(int64_t some, const T *b, T *to, int64_t stride,
                     bool add) {
    if (leftIsTransposed)
      multiply<T, Product::FromTransposed>(
          some, kWidth, depth, leftAt, leftStride, b, kWidth, to, stride, add);
    else
      multiply<T, Product::FromTile>(some, kWidth, depth, leftAt, leftStride, b,
                                     kWidth, to, stride, add);
  }

  const dist_gemm_desc &desc;
  int64_t rows, columns, depth = 0, bytes = 0;
  bool leftIsTransposed, accumulate = false;
  const T *a, *b;
  T *c;
  T *left, *right;
  const T *leftAt = nullptr; ///< The piece of a that is at hand.
  int64_t leftStride = 0;
  T *edge; ///< [kGemmRows][kWidth], for columns that are no whole panel.
};

/// The rows are the blocks of all matrices, those of a matrix together.
template <typename T>
void gemmTask(void *args, int64_t lo, int64_t hi) {
  const auto &call = *static_cast<const GemmCall *>(args);
  int64_t across = (call.desc->n + call.columns - 1) / call.columns;
  int64_t down = (call.desc->m + call.rows - 1) / call.rows;
  for (int64_t i = lo; i < hi; ++i)
    GemmBlock<T>(call, i / across / down, i / across % down * call.rows,
                 i % across * call.columns)
        .run();
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_GEMMBLOCK_H
