// RUN: dist-opt %s --dist-join-pads | FileCheck %s

// CHECK-LABEL: @tiles(
// CHECK-SAME: %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[C:.*]]: tensor<8x4xf32>)
// CHECK-NEXT: %[[J:.*]] = nn.concat %[[A]], %[[B]], %[[C]] {dim = 1 : i64}
// CHECK-NEXT: return %[[J]]
func.func @tiles(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>) -> tensor<8x12xf32> {
  %0 = nn.pad %c {low = array<i64: 0, 8>, high = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<8x4xf32>) -> tensor<8x12xf32>
  %1 = nn.pad %a {low = array<i64: 0, 0>, high = array<i64: 0, 8>, value = 0.0 : f32} : (tensor<8x4xf32>) -> tensor<8x12xf32>
  %2 = nn.pad %b {low = array<i64: 0, 4>, high = array<i64: 0, 4>, value = 0.0 : f32} : (tensor<8x4xf32>) -> tensor<8x12xf32>
  %3 = arith.addf %0, %1 : tensor<8x12xf32>
  %4 = arith.addf %3, %2 : tensor<8x12xf32>
  return %4 : tensor<8x12xf32>
}

// A gap, an overlap and a padding with another value stay sums.
// CHECK-LABEL: @no_tiles(
// CHECK-NOT: nn.concat
func.func @no_tiles(%a: tensor<4xf32>) -> (tensor<9xf32>, tensor<6xf32>, tensor<8xf32>) {
  %0 = nn.pad %a {low = array<i64: 0>, high = array<i64: 5>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<9xf32>
  %1 = nn.pad %a {low = array<i64: 5>, high = array<i64: 0>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<9xf32>
  %2 = arith.addf %0, %1 : tensor<9xf32>
  %3 = nn.pad %a {low = array<i64: 0>, high = array<i64: 2>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<6xf32>
  %4 = nn.pad %a {low = array<i64: 2>, high = array<i64: 0>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<6xf32>
  %5 = arith.addf %3, %4 : tensor<6xf32>
  %6 = nn.pad %a {low = array<i64: 0>, high = array<i64: 4>, value = 1.0 : f32} : (tensor<4xf32>) -> tensor<8xf32>
  %7 = nn.pad %a {low = array<i64: 4>, high = array<i64: 0>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<8xf32>
  %8 = arith.addf %6, %7 : tensor<8xf32>
  return %2, %5, %8 : tensor<9xf32>, tensor<6xf32>, tensor<8xf32>
}
