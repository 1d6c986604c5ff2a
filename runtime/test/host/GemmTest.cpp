//===- GemmTest.cpp - Matrix products against plain loops -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"
#include "TestPool.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <functional>
#include <random>

using namespace dist;

namespace {

/// A batch of matrices in a buffer of its own, with padding around them.
struct Matrices {
  int64_t batch, row, column, size;
};

/// Row-major or column-major, rows `padding` longer than needed.
Matrices layout(int64_t batch, int64_t rows, int64_t columns, bool columnMajor,
                int64_t padding) {
  int64_t leading = (columnMajor ? rows : columns) + padding;
  int64_t each = leading * (columnMajor ? columns : rows) + 3 * padding;
  // Never empty: an operand always has an address.
  return {each, columnMajor ? 1 : leading, columnMajor ? leading : 1,
          std::max<int64_t>(1, each * batch)};
}

template <typename T>
std::vector<T> randomValues(int64_t count, int seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(count);
  for (T &value : values)
    value = T(uniform(engine));
  return values;
}

/// Largest difference from the product in f64, in units of what k roundings of
/// products below 1 may add up to. Elements that are no part of the matrix
/// must be as they were.
template <typename T>
double errorOf(const dist_gemm_desc &d, const std::vector<T> &a,
               const std::vector<T> &b, const std::vector<T> &before,
               const std::vector<T> &after) {
  std::vector<double> expected(before.begin(), before.end());
  for (int64_t l = 0; l < d.batch; ++l)
    for (int64_t i = 0; i < d.m; ++i)
      for (int64_t j = 0; j < d.n; ++j) {
        int64_t at = l * d.c_batch + i * d.c_row + j * d.c_column;
        double sum = d.accumulate ? expected[at] : 0;
        for (int64_t p = 0; p < d.k; ++p)
          sum += double(a[l * d.a_batch + i * d.a_row + p * d.a_column]) *
                 b[l * d.b_batch + p * d.b_row + j * d.b_column];
        expected[at] = sum;
      }
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, std::abs(expected[i] - after[i]));
  return error / (std::numeric_limits<T>::epsilon() * (d.k + 1));
}

struct Shape {
  int64_t batch, m, n, k;
};
const Shape kShapes[] = {{1, 1, 1, 1},     {1, 5, 7, 3},      {1, 64, 64, 64},
                         {3, 17, 33, 65},  {2, 130, 1, 40},   {2, 1, 130, 40},
                         {1, 200, 97, 1},  {1, 150, 300, 70}, {5, 4, 4, 4},
                         {1, 0, 4, 4},     {0, 3, 3, 3},      {2, 6, 5, 0},
                         {1, 99, 70, 300}, {1, 20, 600, 30}};

using Run = std::function<void(dist_rank *, const dist_gemm_desc *,
                               const void *, const void *, void *)>;

template <typename T>
void checkEveryLayout(dist_dtype dtype, const Run &run) {
  for (const Shape &s : kShapes)
    for (int bits = 0; bits < 32; ++bits) {
      int64_t padding = bits & 8 ? 5 : 0;
      Matrices a = layout(s.batch, s.m, s.k, bits & 1, padding);
      Matrices b = layout(s.batch, s.k, s.n, bits & 2, padding);
      Matrices c = layout(s.batch, s.m, s.n, bits & 4, padding);
      dist_gemm_desc desc = {dtype, bits >> 4 & 1, s.batch, s.m,      s.n,
                             s.k,   a.batch,       a.row,   a.column, b.batch,
                             b.row, b.column,      c.batch, c.row,    c.column};
      auto aData = randomValues<T>(a.size, 1),
           bData = randomValues<T>(b.size, 2);
      auto before = randomValues<T>(c.size, 3), after = before;
      dist_rank rank;
      run(&rank, &desc, aData.data(), bData.data(), after.data());
      EXPECT_LE(errorOf(desc, aData, bData, before, after), 1)
          << s.batch << " x " << s.m << " " << s.n << " " << s.k << ", layout "
          << bits;
    }
}

TEST(GemmTest, f32OfEveryLayout) {
  checkEveryLayout<float>(DIST_F32, dist_gemm);
}

TEST(GemmTest, f64OfEveryLayout) {
  checkEveryLayout<double>(DIST_F64, dist_gemm);
}

TEST(GemmTest, ownLoopsOfEveryInstructionSet) {
  for (const Kernels *kernels : test::testableKernels()) {
    SCOPED_TRACE(kernels->name);
    auto run = [&](dist_rank *rank, const dist_gemm_desc *desc, const void *a,
                   const void *b,
                   void *c) { gemmUsing(*kernels, rank, desc, a, b, c); };
    checkEveryLayout<float>(DIST_F32, run);
    checkEveryLayout<double>(DIST_F64, run);
  }
}

TEST(GemmTest, operandThatBroadcasts) {
  // All rows of a are one, all matrices share b.
  dist_gemm_desc desc = {DIST_F32, 0, 3,  20, 30,  10, 10, 0,
                         1,        0, 30, 1,  600, 30, 1};
  auto a = randomValues<float>(30, 1), b = randomValues<float>(300, 2);
  std::vector<float> before(1800), after = before;
  dist_rank rank;
  dist_gemm(&rank, &desc, a.data(), b.data(), after.data());
  EXPECT_LE(errorOf(desc, a, b, before, after), 1);
}

template <typename T>
void checkThreads(dist_dtype dtype) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{500, 130, 300},
                         std::array<int64_t, 3>{256, 768, 200}}) {
    dist_gemm_desc desc = {dtype, 0, 1, m, n, k, 0, k, 1, 0, n, 1, 0, n, 1};
    auto a = randomValues<T>(m * k, 1), b = randomValues<T>(k * n, 2);
    std::vector<T> one(m * n), several(m * n);
    dist_rank rank;
    dist_gemm(&rank, &desc, a.data(), b.data(), one.data());
    EXPECT_LE(errorOf(desc, a, b, one, one), 1);
    for (int threads : {1, 2, 3, 7}) {
      dist_rank reversed = {threads, true};
      dist_gemm(&reversed, &desc, a.data(), b.data(), several.data());
      EXPECT_EQ(one, several) << threads << " threads";
    }
  }
}

TEST(GemmTest, f32BitsForAnyNumberOfThreads) { checkThreads<float>(DIST_F32); }
TEST(GemmTest, f64BitsForAnyNumberOfThreads) { checkThreads<double>(DIST_F64); }

} // namespace
