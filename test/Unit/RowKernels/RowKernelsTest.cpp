//===- RowKernelsTest.cpp - Compiled kernels against plain loops ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every kernel runs in f32 and f64, on odd sizes, single columns and no rows,
// and is compared with loops in double. Two and three threads must give the
// bits of one.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace dist::test;

namespace {
template <typename T>
class RowKernels : public ::testing::Test {
protected:
  using Tensor = std::vector<T>;

  static constexpr const char *kType = sizeof(T) == 4 ? "f32" : "f64";
  static constexpr double kTolerance = sizeof(T) == 4 ? 4e-6 : 2e-14;

  /// Pairs of rows and columns.
  static constexpr int64_t kSizes[5][2] = {
      {3, 1021}, {5, 1}, {0, 7}, {2050, 65}, {1, 4}};

  Tensor draw(int64_t count, double mean = 0, double deviation = 1) {
    std::normal_distribution<double> normal(mean, deviation);
    Tensor values(count);
    for (T &value : values)
      value = normal(engine);
    return values;
  }

  static void expectNear(const Tensor &actual,
                         const std::vector<double> &expected,
                         double scale = 1) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i],
                  kTolerance * scale * (1 + std::abs(expected[i])))
          << "at " << i;
  }

  static void expectSameBits(const Tensor &a, const Tensor &b) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
  }

  std::mt19937 engine{7};
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernels, Types);
} // namespace

TYPED_TEST(RowKernels, Softmax) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel =
        CompiledKernel::fromFile("softmax", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto x = this->draw(rows * columns, 0, 10);
    std::vector<TypeParam> y(x.size()), again(x.size());
    (*kernel)(1, x.data(), y.data());
    (*kernel)(2, x.data(), again.data());
    this->expectSameBits(y, again);
    std::vector<double> expected(x.size());
    for (int64_t r = 0; r < rows; ++r) {
      double max = -INFINITY, sum = 0;
      for (int64_t j = 0; j < columns; ++j)
        max = std::max<double>(max, x[r * columns + j]);
      for (int64_t j = 0; j < columns; ++j)
        sum += std::exp(x[r * columns + j] - max);
      for (int64_t j = 0; j < columns; ++j)
        expected[r * columns + j] = std::exp(x[r * columns + j] - max) / sum;
    }
    this->expectNear(y, expected);
  }
}

TYPED_TEST(RowKernels, SoftmaxShowsNaN) {
  auto kernel = CompiledKernel::fromFile("softmax", 2, 70, this->kType);
  ASSERT_TRUE(kernel);
  auto x = this->draw(140);
  x[33] = NAN;
  std::vector<TypeParam> y(x.size());
  (*kernel)(1, x.data(), y.data());
  for (int j = 0; j < 70; ++j) {
    EXPECT_TRUE(std::isnan(y[j]));
    EXPECT_FALSE(std::isnan(y[70 + j]));
  }
}

namespace {
/// Mean and 1 / deviation of the rows of x.
template <typename T>
std::pair<std::vector<double>, std::vector<double>>
moments(const std::vector<T> &x, int64_t rows, int64_t columns) {
  std::vector<double> mean(rows), rstd(rows);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < columns; ++j)
      sum += x[r * columns + j];
    mean[r] = sum / columns;
    for (int64_t j = 0; j < columns; ++j)
      squares += std::pow(x[r * columns + j] - mean[r], 2);
    rstd[r] = 1 / std::sqrt(squares / columns + 1e-5);
  }
  return {mean, rstd};
}
} // namespace

TYPED_TEST(RowKernels, LayerNorm) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel =
        CompiledKernel::fromFile("layer_norm", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto x = this->draw(rows * columns, 0.5);
    auto gamma = this->draw(columns, 1), beta = this->draw(columns);
    std::vector<TypeParam> y(x.size()), again(x.size()), mean(rows), rstd(rows);
    (*kernel)(1, x.data(), gamma.data(), beta.data(), y.data(), mean.data(),
              rstd.data());
    (*kernel)(3, x.data(), gamma.data(), beta.data(), again.data(), mean.data(),
              rstd.data());
    this->expectSameBits(y, again);
    auto [expectedMean, expectedRstd] = moments(x, rows, columns);
    std::vector<double> expected(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      expected[i] = (x[i] - expectedMean[i / columns]) *
                        expectedRstd[i / columns] * gamma[i % columns] +
                    beta[i % columns];
    this->expectNear(y, expected);
    this->expectNear(mean, expectedMean);
    this->expectNear(rstd, expectedRstd);
  }
}

TYPED_TEST(RowKernels, LayerNormGradient) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel =
        CompiledKernel::fromFile("layer_norm_grad", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto x = this->draw(rows * columns, 0.5), dy = this->draw(rows * columns);
    auto gamma = this->draw(columns, 1), before = this->draw(columns);
    auto [wideMean, wideRstd] = moments(x, rows, columns);
    std::vector<TypeParam> mean(wideMean.begin(), wideMean.end()),
        rstd(wideRstd.begin(), wideRstd.end());
    std::vector<TypeParam> dx[2], dgamma[2], dbeta[2];
    for (int i : {0, 1}) {
      dx[i].resize(x.size());
      dgamma[i].resize(columns);
      dbeta[i] = before;
      (*kernel)(i + 1, x.data(), gamma.data(), mean.data(), rstd.data(),
                dy.data(), dx[i].data(), dgamma[i].data(), dbeta[i].data());
    }
    this->expectSameBits(dx[0], dx[1]);
    this->expectSameBits(dgamma[0], dgamma[1]);
    this->expectSameBits(dbeta[0], dbeta[1]);
    std::vector<double> wantX(x.size()), wantGamma(columns),
        wantBeta(before.begin(), before.end());
    for (int64_t r = 0; r < rows; ++r) {
      double s1 = 0, s2 = 0;
      auto at = [&](int64_t j) { return r * columns + j; };
      auto hat = [&](int64_t j) {
        return (x[at(j)] - double(mean[r])) * double(rstd[r]);
      };
      for (int64_t j = 0; j < columns; ++j) {
        s1 += dy[at(j)] * double(gamma[j]);
        s2 += dy[at(j)] * double(gamma[j]) * hat(j);
        wantGamma[j] += dy[at(j)] * hat(j);
        wantBeta[j] += dy[at(j)];
      }
      for (int64_t j = 0; j < columns; ++j)
        wantX[at(j)] = rstd[r] * (dy[at(j)] * double(gamma[j]) - s1 / columns -
                                  hat(j) * s2 / columns);
    }
    // One column has a deviation near 0: rstd is large, and so are errors.
    double scale = columns == 1 ? 1e3 : 4;
    this->expectNear(dx[0], wantX, scale);
    this->expectNear(dgamma[0], wantGamma, 40);
    this->expectNear(dbeta[0], wantBeta, 40);
  }
}

TYPED_TEST(RowKernels, BiasGelu) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel =
        CompiledKernel::fromFile("bias_gelu", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto x = this->draw(rows * columns, 0, 3), bias = this->draw(columns);
    if (!x.empty())
      x[0] = -1000; // exp overflows: the result is 0, not NaN
    std::vector<TypeParam> y(x.size()), again(x.size());
    (*kernel)(1, x.data(), bias.data(), y.data());
    (*kernel)(2, x.data(), bias.data(), again.data());
    this->expectSameBits(y, again);
    std::vector<double> expected(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      double u = double(x[i]) + double(bias[i % columns]);
      expected[i] =
          0.5 * u *
          (1 + std::tanh(0.7978845608028654 * (u + 0.044715 * u * u * u)));
    }
    this->expectNear(y, expected);
  }
}

TYPED_TEST(RowKernels, CrossEntropy) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel =
        CompiledKernel::fromFile("cross_entropy", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto x = this->draw(rows * columns, 0, 3);
    std::vector<int32_t> labels(rows);
    for (int64_t r = 0; r < rows; ++r)
      labels[r] = r % 5 == 2 ? -1 : r * 7 % columns;
    std::vector<TypeParam> lse(rows), loss(1), again(1);
    (*kernel)(1, x.data(), labels.data(), loss.data(), lse.data());
    (*kernel)(2, x.data(), labels.data(), again.data(), lse.data());
    this->expectSameBits(loss, again);
    std::vector<double> wantLse(rows);
    double want = 0;
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t j = 0; j < columns; ++j)
        sum += std::exp(double(x[r * columns + j]));
      wantLse[r] = std::log(sum);
      if (labels[r] >= 0)
        want += wantLse[r] - x[r * columns + labels[r]];
    }
    this->expectNear(lse, wantLse);
    this->expectNear(loss, {want});
  }
}

TYPED_TEST(RowKernels, AdamW) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel = CompiledKernel::fromFile("adamw", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto p = this->draw(rows * columns), g = this->draw(rows * columns),
         m = this->draw(rows * columns), v = this->draw(rows * columns, 5, 0.5);
    TypeParam lr = 0.01;
    std::vector<double> wantP(p.size()), wantM(p.size()), wantV(p.size());
    for (size_t i = 0; i < p.size(); ++i) {
      wantM[i] = 0.9 * m[i] + 0.1 * g[i];
      wantV[i] = 0.999 * v[i] + 0.001 * double(g[i]) * g[i];
      double update = wantM[i] / (std::sqrt(wantV[i]) + 1e-8) + 0.01 * p[i];
      wantP[i] = p[i] - lr * update;
    }
    auto p2 = p, m2 = m, v2 = v;
    (*kernel)(1, p.data(), g.data(), m.data(), v.data(), &lr);
    (*kernel)(2, p2.data(), g.data(), m2.data(), v2.data(), &lr);
    this->expectSameBits(p, p2);
    this->expectNear(p, wantP);
    this->expectNear(m, wantM);
    this->expectNear(v, wantV);
  }
}

TYPED_TEST(RowKernels, Embedding) {
  for (auto [rows, columns] : this->kSizes) {
    auto kernel =
        CompiledKernel::fromFile("embedding", rows, columns, this->kType);
    ASSERT_TRUE(kernel);
    auto table = this->draw(50 * columns),
         positions = this->draw(rows * columns);
    std::vector<int32_t> ids(rows);
    for (int64_t r = 0; r < rows; ++r)
      ids[r] = r * 13 % 50;
    std::vector<TypeParam> y(rows * columns);
    (*kernel)(2, table.data(), ids.data(), positions.data(), y.data());
    std::vector<double> expected(y.size());
    for (size_t i = 0; i < y.size(); ++i)
      expected[i] = TypeParam(table[ids[i / columns] * columns + i % columns] +
                              positions[i]);
    this->expectNear(y, expected);
  }
}
