//===- MathTest.cpp - Errors of the expanded math functions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace dist::test;

static constexpr int kCount = 1 << 16;

static std::vector<float> evaluate(const std::string &op,
                                   const std::vector<float> &x) {
  std::string text = R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @map(%rank: !llvm.ptr, %x: memref<ROWSxf32>, %y: memref<ROWSxf32>)
        attributes {dist.kernel} {
      %in = bufferization.to_tensor %x restrict
          : memref<ROWSxf32> to tensor<ROWSxf32>
      %e = tensor.empty() : tensor<ROWSxf32>
      %z = linalg.generic {indexing_maps = [#id, #id],
                           iterator_types = ["parallel"]}
          ins(%in : tensor<ROWSxf32>) outs(%e : tensor<ROWSxf32>) {
      ^bb0(%a: f32, %o: f32):
        %b = )" + op +
                     R"( %a : f32
        linalg.yield %b : f32
      } -> tensor<ROWSxf32>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<ROWSxf32>, memref<ROWSxf32>) -> ()
      return
    })";
  std::vector<float> y(x.size());
  auto kernel = CompiledKernel::fromText("map", text, x.size(), 1, "f32");
  EXPECT_TRUE(kernel);
  if (kernel)
    (*kernel)(1, x.data(), y.data());
  return y;
}

/// The largest error over [lo, hi], in units of the last place of the result.
static double measureUlps(const std::string &op, double (*exact)(double),
                          float lo, float hi) {
  std::vector<float> x(kCount);
  for (int i = 0; i < kCount; ++i)
    x[i] = lo + (hi - lo) * (i / float(kCount - 1));
  std::vector<float> y = evaluate(op, x);
  double worst = 0;
  for (int i = 0; i < kCount; ++i) {
    double want = exact(x[i]);
    float rounded = std::abs(float(want));
    double ulp = std::nextafter(rounded, INFINITY) - double(rounded);
    worst = std::max(worst, std::abs(y[i] - want) / ulp);
  }
  ::testing::Test::RecordProperty(op, std::to_string(worst));
  return worst;
}

TEST(Math, Exp) {
  EXPECT_LE(measureUlps("math.exp", std::exp, -87.3f, 88.3f), 1.1);
  EXPECT_LE(measureUlps("math.exp", std::exp, -1.0f, 1.0f), 1.1);
}

TEST(Math, ExpAtTheEnds) {
  std::vector<float> y = evaluate(
      "math.exp", {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 89.0f, -104.0f});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], INFINITY);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 1.0f);
  EXPECT_EQ(y[4], 1.0f);
  EXPECT_EQ(y[5], INFINITY);
  EXPECT_EQ(y[6], 0.0f);
}

TEST(Math, Log) {
  EXPECT_LE(measureUlps("math.log", std::log, 1e-3f, 1000.0f), 4);
}

TEST(Math, Tanh) {
  EXPECT_LE(measureUlps("math.tanh", std::tanh, -10.0f, 10.0f), 8);
}

TEST(Math, Erf) {
  EXPECT_LE(measureUlps("math.erf", std::erf, -4.0f, 4.0f), 8);
}

TEST(Math, Sine) {
  EXPECT_LE(measureUlps("math.sin", std::sin, -1000.0f, 1000.0f), 2);
  EXPECT_LE(measureUlps("math.cos", std::cos, -1000.0f, 1000.0f), 2);
}

TEST(Math, Rsqrt) {
  EXPECT_LE(measureUlps(
                "math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-6f,
                100.0f),
            1.5);
}

TEST(Math, LeftToTheLibrary) {
  EXPECT_LE(measureUlps("math.expm1", std::expm1, -1e-3f, 1e-3f), 2);
  EXPECT_LE(measureUlps("math.log1p", std::log1p, -1e-3f, 1e-3f), 2);
}
