//===- GemmLoops.h - Matrix products by own loops ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What oneDNN does not take: f64, and strides that overlap. Both operands are
// packed block by block, so any strides do. Internal to each instruction set,
// see Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_GEMMLOOPS_H
#define DIST_RUNTIME_HOST_GEMMLOOPS_H

#include "Kernels.h"
#include "MicroKernel.h"
#include "Scratch.h"

namespace dist {
namespace {

/// Columns and depth of a block: its right operand fits the second-level cache.
constexpr int64_t kGemmColumns = 128, kGemmDepth = 256;

template <typename T>
class GemmSlab {
public:
  GemmSlab(const GemmCall &call, int64_t matrix, int64_t row)
      : desc(*call.desc), row(row), rows(least(kGemmSlab, desc.m - row)),
        a(static_cast<const T *>(call.a) + matrix * desc.a_batch +
          row * desc.a_row),
        b(static_cast<const T *>(call.b) + matrix * desc.b_batch),
        c(static_cast<T *>(call.c) + matrix * desc.c_batch + row * desc.c_row) {
    cut(ScratchCutter());
  }

  void run() {
    cut(ScratchCutter(threadScratch(bytes)));
    for (int64_t j = 0; j < desc.n; j += kGemmColumns)
      runColumns(j, least(kGemmColumns, desc.n - j));
  }

private:
  void cut(ScratchCutter cutter) {
    left = cutter.take<T>(kGemmSlab * kGemmDepth);
    right = cutter.take<T>(kGemmDepth * kGemmColumns);
    result = cutter.take<T>(kGemmSlab * kGemmColumns);
    bytes = cutter.bytes();
  }

  void runColumns(int64_t j, int64_t columns) {
    int64_t width = roundUp(columns, kBlockColumns<T>);
    for (int64_t i = 0; i < rows * kGemmColumns; ++i)
      result[i] = 0;
    for (int64_t p = 0; p < desc.k; p += kGemmDepth) {
      int64_t depth = least(kGemmDepth, desc.k - p);
      pack(a + p * desc.a_column, desc.a_row, desc.a_column, rows, depth, left,
           kGemmDepth, depth);
      pack(b + p * desc.b_row + j * desc.b_column, desc.b_row, desc.b_column,
           depth, columns, right, kGemmColumns, width);
      multiply<T, Product::FromTile>(rows, width, depth, left, kGemmDepth,
                                     right, kGemmColumns, result, kGemmColumns,
                                     true);
    }
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t l = 0; l < columns; ++l) {
        T *to = c + i * desc.c_row + (j + l) * desc.c_column;
        *to = result[i * kGemmColumns + l] + (desc.accumulate ? *to : 0);
      }
  }

  /// to[rows][stride] = from[rows][columns], zeros up to `width`.
  static void pack(const T *from, int64_t row, int64_t column, int64_t rows,
                   int64_t columns, T *to, int64_t stride, int64_t width) {
    for (int64_t i = 0; i < rows; ++i) {
      if (column == 1)
        for (int64_t j = 0; j < columns; ++j)
          to[i * stride + j] = from[i * row + j];
      else
        for (int64_t j = 0; j < columns; ++j)
          to[i * stride + j] = from[i * row + j * column];
      for (int64_t j = columns; j < width; ++j)
        to[i * stride + j] = 0;
    }
  }

  const dist_gemm_desc &desc;
  int64_t row, rows, bytes = 0;
  const T *a, *b;
  T *c;
  T *left, *right, *result;
};

/// The rows are the slabs of all matrices, those of a matrix together.
template <typename T>
void gemmTask(void *args, int64_t lo, int64_t hi) {
  const auto &call = *static_cast<const GemmCall *>(args);
  for (int64_t i = lo; i < hi; ++i)
    GemmSlab<T>(call, i / call.slabsPerMatrix,
                i % call.slabsPerMatrix * kGemmSlab)
        .run();
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_GEMMLOOPS_H
