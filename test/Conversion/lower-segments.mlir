// RUN: dist-opt %s --dist-lower-segments | FileCheck %s

// One kernel for bias and activation; the product is a call; the permutation
// renames elements.
// CHECK: llvm.func @dist_gemm
// CHECK-LABEL: func.func @up_body(
// CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr, %[[X:.*]]: memref<8x16xf32>, %[[W:.*]]: memref<16x32xf32>, %[[B:.*]]: memref<32xf32>, %[[Y:.*]]: memref<4x8x8xf32>, %[[SPACE:.*]]: memref<2048xi8>)
// CHECK-SAME:    attributes {dist.segment = "up"}
// CHECK:         llvm.call @dist_gemm(%[[RANK]]
// CHECK:         call @kernel_0(%[[RANK]], %[[B]]
// CHECK:         call @kernel_1(
// CHECK-NOT:     call
// CHECK:       func.func private @kernel_0(
// CHECK-SAME:    dist.kernel
// CHECK:         linalg.generic
func.func private @up(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<32xf32>) -> tensor<4x8x8xf32> {
  %p = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %bb = nn.repeat "e -> b e"(%b) : (tensor<32xf32>) -> tensor<8x32xf32>
  %s = arith.addf %p, %bb : tensor<8x32xf32>
  %g = nn.gelu %s {approximate = "tanh"} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = nn.rearrange "b (h k) -> h b k"(%g) {h = 4 : i64} : (tensor<8x32xf32>) -> tensor<4x8x8xf32>
  return %y : tensor<4x8x8xf32>
}
