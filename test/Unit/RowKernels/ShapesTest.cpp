//===- ShapesTest.cpp - Row kernels of unusual shapes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "gtest/gtest.h"
#include <cstring>
#include <numeric>

using namespace dist::test;

/// Numbers that add up exactly in any order.
template <typename T>
static std::vector<T> count(int64_t size) {
  std::vector<T> values(size);
  for (int64_t i = 0; i < size; ++i)
    values[i] = (i * 7) % 23 - 11;
  return values;
}

static std::unique_ptr<CompiledKernel> compile(const std::string &text) {
  return CompiledKernel::fromText("k", text, 0, 0, "f32");
}

TEST(Shapes, RowsThatDoNotCollapse) {
  // Heads move in front of the sequence: 2 x 5 x 3 x 8 from a padded buffer.
  auto kernel = compile(R"(
    #out = affine_map<(b, h, s, k) -> (b, h, s, k)>
    #in = affine_map<(b, h, s, k) -> (b, s, h, k)>
    func.func @k(%rank: !llvm.ptr,
        %x: memref<2x5x3x8xf32, strided<[160, 32, 8, 1], offset: 4>>,
        %y: memref<2x3x5x8xf32>) attributes {dist.kernel} {
      %t = bufferization.to_tensor %x restrict : memref<2x5x3x8xf32,
          strided<[160, 32, 8, 1], offset: 4>> to tensor<2x5x3x8xf32>
      %e = tensor.empty() : tensor<2x3x5x8xf32>
      %z = linalg.generic {indexing_maps = [#in, #out], iterator_types =
          ["parallel", "parallel", "parallel", "parallel"]}
          ins(%t : tensor<2x5x3x8xf32>) outs(%e : tensor<2x3x5x8xf32>) {
      ^bb0(%a: f32, %o: f32):
        %v = arith.negf %a : f32
        linalg.yield %v : f32
      } -> tensor<2x3x5x8xf32>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<2x3x5x8xf32>, memref<2x3x5x8xf32>) -> ()
      return
    })");
  ASSERT_TRUE(kernel);
  auto x = count<float>(4 + 320);
  std::vector<float> y(240);
  (*kernel)(2, x.data(), y.data());
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h)
      for (int s = 0; s < 5; ++s)
        for (int k = 0; k < 8; ++k)
          ASSERT_EQ(y[((b * 3 + h) * 5 + s) * 8 + k],
                    -x[4 + b * 160 + s * 32 + h * 8 + k]);
}

/// Adds the sum over the rows of x to y.
static void testColumnSums(int64_t columns, int64_t rows) {
  std::string text = R"(
    #all = affine_map<(r, c) -> (r, c)>
    #col = affine_map<(r, c) -> (c)>
    func.func @k(%rank: !llvm.ptr, %x: memref<ROWSxCOLSxf32>,
        %y: memref<COLSxf32>, %ws: memref<WORKSPACExi8> {dist.workspace})
        attributes {dist.kernel} {
      %t = bufferization.to_tensor %x restrict
          : memref<ROWSxCOLSxf32> to tensor<ROWSxCOLSxf32>
      %i = bufferization.to_tensor %y restrict
          : memref<COLSxf32> to tensor<COLSxf32>
      %z = linalg.generic {indexing_maps = [#all, #col],
                           iterator_types = ["reduction", "parallel"]}
          ins(%t : tensor<ROWSxCOLSxf32>) outs(%i : tensor<COLSxf32>) {
      ^bb0(%a: f32, %o: f32):
        %v = arith.addf %a, %o : f32
        linalg.yield %v : f32
      } -> tensor<COLSxf32>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<COLSxf32>, memref<COLSxf32>) -> ()
      return
    })";
  auto kernel = CompiledKernel::fromText("k", text, rows, columns, "f32");
  ASSERT_TRUE(kernel);
  bool isAcross = columns >= 4096 || (rows <= 32 && columns > 256);
  EXPECT_EQ(kernel->getWorkspaceBytes() == 0, isAcross);
  auto x = count<float>(rows * columns), y = count<float>(columns), before = y;
  std::vector<char> unused(8);
  if (isAcross)
    (*kernel)(2, x.data(), y.data(), unused.data());
  else
    (*kernel)(2, x.data(), y.data());
  for (int64_t j = 0; j < columns; ++j) {
    float want = before[j];
    for (int64_t r = 0; r < rows; ++r)
      want += x[r * columns + j];
    ASSERT_EQ(y[j], want) << "column " << j;
  }
}

TEST(Shapes, ColumnSumsInBlocksOfRows) { testColumnSums(33, 5000); }
TEST(Shapes, ColumnSumsAcrossColumns) { testColumnSums(5003, 1000); }
TEST(Shapes, ColumnSumsOfFewRows) { testColumnSums(300, 3); }
TEST(Shapes, ColumnSumsOfNoRows) { testColumnSums(33, 0); }

TEST(Shapes, ReductionOfAMiddleDimension) {
  auto kernel = compile(R"(
    #all = affine_map<(b, h, s) -> (b, h, s)>
    #out = affine_map<(b, h, s) -> (b, s)>
    func.func @k(%rank: !llvm.ptr, %x: memref<3x4x5xi32>, %y: memref<3x5xi32>,
        %ws: memref<WORKSPACExi8> {dist.workspace}) attributes {dist.kernel} {
      %min = arith.constant -2147483648 : i32
      %t = bufferization.to_tensor %x restrict
          : memref<3x4x5xi32> to tensor<3x4x5xi32>
      %e = tensor.empty() : tensor<3x5xi32>
      %i = linalg.fill ins(%min : i32) outs(%e : tensor<3x5xi32>)
          -> tensor<3x5xi32>
      %z = linalg.generic {indexing_maps = [#all, #out], iterator_types =
          ["parallel", "reduction", "parallel"]}
          ins(%t : tensor<3x4x5xi32>) outs(%i : tensor<3x5xi32>) {
      ^bb0(%a: i32, %o: i32):
        %v = arith.maxsi %a, %o : i32
        linalg.yield %v : i32
      } -> tensor<3x5xi32>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<3x5xi32>, memref<3x5xi32>) -> ()
      return
    })");
  ASSERT_TRUE(kernel);
  auto x = count<int32_t>(60);
  std::vector<int32_t> y(15);
  (*kernel)(1, x.data(), y.data());
  for (int b = 0; b < 3; ++b)
    for (int s = 0; s < 5; ++s) {
      int32_t want = x[b * 20 + s];
      for (int h = 1; h < 4; ++h)
        want = std::max(want, x[b * 20 + h * 5 + s]);
      ASSERT_EQ(y[b * 5 + s], want);
    }
}

TEST(Shapes, TotalOfOneDimension) {
  auto kernel = compile(R"(
    #all = affine_map<(i) -> (i)>
    #none = affine_map<(i) -> ()>
    func.func @k(%rank: !llvm.ptr, %x: memref<100003xf32>, %y: memref<f32>,
        %ws: memref<WORKSPACExi8> {dist.workspace}) attributes {dist.kernel} {
      %t = bufferization.to_tensor %x restrict
          : memref<100003xf32> to tensor<100003xf32>
      %i = bufferization.to_tensor %y restrict : memref<f32> to tensor<f32>
      %z = linalg.generic {indexing_maps = [#all, #none],
                           iterator_types = ["reduction"]}
          ins(%t : tensor<100003xf32>) outs(%i : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %s = arith.mulf %a, %a : f32
        %v = arith.addf %s, %o : f32
        linalg.yield %v : f32
      } -> tensor<f32>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<f32>, memref<f32>) -> ()
      return
    })");
  ASSERT_TRUE(kernel);
  auto x = count<float>(100003);
  float y[2] = {5, 5};
  (*kernel)(1, x.data(), &y[0]);
  (*kernel)(3, x.data(), &y[1]);
  double want = std::inner_product(x.begin(), x.end(), x.begin(), 5.0);
  EXPECT_EQ(y[0], want);
  EXPECT_EQ(std::memcmp(&y[0], &y[1], sizeof(float)), 0);
}

TEST(Shapes, HalvesOfARow) {
  // The rotation of RoPE: views of the halves of one buffer.
  auto kernel = compile(R"(
    #id = affine_map<(r, c) -> (r, c)>
    func.func @k(%rank: !llvm.ptr,
        %x0: memref<7x6xf32, strided<[12, 1]>>,
        %x1: memref<7x6xf32, strided<[12, 1], offset: 6>>,
        %y: memref<7x6xf32, strided<[12, 1]>>,
        %z: memref<7x6xf32, strided<[12, 1], offset: 6>>)
        attributes {dist.kernel} {
      %t = bufferization.to_tensor %x0 restrict
          : memref<7x6xf32, strided<[12, 1]>> to tensor<7x6xf32>
      %u = bufferization.to_tensor %x1 restrict
          : memref<7x6xf32, strided<[12, 1], offset: 6>> to tensor<7x6xf32>
      %e = tensor.empty() : tensor<7x6xf32>
      %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id],
                             iterator_types = ["parallel", "parallel"]}
          ins(%t, %u : tensor<7x6xf32>, tensor<7x6xf32>)
          outs(%e, %e : tensor<7x6xf32>, tensor<7x6xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
        %v = arith.subf %a, %b : f32
        %w = arith.addf %a, %b : f32
        linalg.yield %v, %w : f32, f32
      } -> (tensor<7x6xf32>, tensor<7x6xf32>)
      bufferization.materialize_in_destination %r#0 in restrict writable %y
          : (tensor<7x6xf32>, memref<7x6xf32, strided<[12, 1]>>) -> ()
      bufferization.materialize_in_destination %r#1 in restrict writable %z
          : (tensor<7x6xf32>, memref<7x6xf32, strided<[12, 1], offset: 6>>) -> ()
      return
    })");
  ASSERT_TRUE(kernel);
  auto x = count<float>(84);
  std::vector<float> y(84);
  (*kernel)(1, x.data(), x.data(), y.data(), y.data());
  for (int i = 0; i < 84; ++i)
    ASSERT_EQ(y[i], i % 12 < 6 ? x[i] - x[i + 6] : x[i - 6] + x[i]);
}

TEST(Shapes, ScalarsOnly) {
  auto kernel = compile(R"(
    #none = affine_map<() -> ()>
    func.func @k(%rank: !llvm.ptr, %x: memref<f32>, %y: memref<f32>)
        attributes {dist.kernel} {
      %one = arith.constant 1.0 : f32
      %t = bufferization.to_tensor %x restrict : memref<f32> to tensor<f32>
      %e = tensor.empty() : tensor<f32>
      %z = linalg.generic {indexing_maps = [#none, #none], iterator_types = []}
          ins(%t : tensor<f32>) outs(%e : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %v = arith.minimumf %a, %one : f32
        linalg.yield %v : f32
      } -> tensor<f32>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<f32>, memref<f32>) -> ()
      return
    })");
  ASSERT_TRUE(kernel);
  float x = 3, y = 0;
  (*kernel)(1, &x, &y);
  EXPECT_EQ(y, 1);
}

TEST(Shapes, NarrowStorage) {
  auto kernel = compile(R"(
    #id = affine_map<(i) -> (i)>
    func.func @k(%rank: !llvm.ptr, %x: memref<37xbf16>, %m: memref<37xi1>,
        %y: memref<37xbf16>) attributes {dist.kernel} {
      %zero = arith.constant 0.0 : f32
      %t = bufferization.to_tensor %x restrict
          : memref<37xbf16> to tensor<37xbf16>
      %k = bufferization.to_tensor %m restrict : memref<37xi1> to tensor<37xi1>
      %e = tensor.empty() : tensor<37xbf16>
      %z = linalg.generic {indexing_maps = [#id, #id, #id],
                           iterator_types = ["parallel"]}
          ins(%t, %k : tensor<37xbf16>, tensor<37xi1>)
          outs(%e : tensor<37xbf16>) {
      ^bb0(%a: bf16, %keep: i1, %o: bf16):
        %w = arith.extf %a : bf16 to f32
        %d = arith.addf %w, %w : f32
        %s = arith.select %keep, %d, %zero : f32
        %v = arith.truncf %s : f32 to bf16
        linalg.yield %v : bf16
      } -> tensor<37xbf16>
      bufferization.materialize_in_destination %z in restrict writable %y
          : (tensor<37xbf16>, memref<37xbf16>) -> ()
      return
    })");
  ASSERT_TRUE(kernel);
  std::vector<uint16_t> x(37, 0x3fc0), y(37); // 1.5
  std::vector<uint8_t> mask(37);
  for (int i = 0; i < 37; ++i)
    mask[i] = i % 3 == 0;
  (*kernel)(1, x.data(), mask.data(), y.data());
  for (int i = 0; i < 37; ++i)
    ASSERT_EQ(y[i], mask[i] ? 0x4040 : 0); // 3.0
}
