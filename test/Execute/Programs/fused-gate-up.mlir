// RUN: %compare-program --mesh dp=2,tp=2 --mesh tp=4 --print %s | FileCheck %s

// Both halves of the projection are split alike: one reduction, behind the
// second product.
// CHECK-LABEL: func.func @step(
// CHECK:       nn.slice
// CHECK-NOT:   = dist.{{all|reduce}}
// CHECK:       nn.einsum {{.*}}partial sum ["tp"]
// CHECK-NEXT:  dist.all_reduce sum %{{.*}} over ["tp"]
func.func @loss(%x: tensor<8x16xf32> {nn.input = "x"},
    %w: tensor<16x64xf32> {nn.param = "w", nn.init = "normal 0.2"},
    %o: tensor<32x16xf32> {nn.param = "o", nn.init = "normal 0.2"}) -> tensor<f32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %g = nn.slice %h {starts = array<i64: 0, 0>, limits = array<i64: 8, 32>, strides = array<i64: 1, 1>} : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %u = nn.slice %h {starts = array<i64: 0, 32>, limits = array<i64: 8, 64>, strides = array<i64: 1, 1>} : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %a = nn.silu %g : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = arith.mulf %a, %u : tensor<8x32xf32>
  %y = nn.einsum "b e, e d -> b d"(%m, %o) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %z = arith.mulf %y, %y : tensor<8x16xf32>
  %l = nn.reduce mean "b d ->"(%z) : (tensor<8x16xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
