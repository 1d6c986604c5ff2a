// RUN: %compare-program --mesh dp=2,tp=4 --mesh tp=4 --print %s | FileCheck %s

// Heads are split over tp: nothing travels before the output projection.
// CHECK-LABEL: func.func @step(
// CHECK-NOT:   = dist.{{all|reduce}}
// CHECK:       nn.attention
// CHECK-NOT:   = dist.{{all|reduce}}
// CHECK:       nn.einsum {{.*}}partial sum ["tp"]
// CHECK-NEXT:  dist.all_reduce sum %{{.*}} over ["tp"]
func.func @loss(%x: tensor<4x6x16xf32> {nn.input = "x"},
    %w: tensor<16x48xf32> {nn.param = "w", nn.init = "normal 0.2"},
    %o: tensor<16x16xf32> {nn.param = "o", nn.init = "normal 0.2"}) -> tensor<f32> {
  %e = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<4x6x16xf32>, tensor<16x48xf32>) -> tensor<4x6x48xf32>
  %q0 = nn.slice %e {starts = array<i64: 0, 0, 0>, limits = array<i64: 4, 6, 16>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x48xf32>) -> tensor<4x6x16xf32>
  %k0 = nn.slice %e {starts = array<i64: 0, 0, 16>, limits = array<i64: 4, 6, 32>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x48xf32>) -> tensor<4x6x16xf32>
  %v0 = nn.slice %e {starts = array<i64: 0, 0, 32>, limits = array<i64: 4, 6, 48>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x48xf32>) -> tensor<4x6x16xf32>
  %q = nn.rearrange "b s (h k) -> b h s k"(%q0) {h = 4 : i64} : (tensor<4x6x16xf32>) -> tensor<4x4x6x4xf32>
  %k = nn.rearrange "b s (h k) -> b h s k"(%k0) {h = 4 : i64} : (tensor<4x6x16xf32>) -> tensor<4x4x6x4xf32>
  %v = nn.rearrange "b s (h k) -> b h s k"(%v0) {h = 4 : i64} : (tensor<4x6x16xf32>) -> tensor<4x4x6x4xf32>
  %a = nn.attention %q, %k, %v {causal, scale = 0.5 : f32} : (tensor<4x4x6x4xf32>, tensor<4x4x6x4xf32>, tensor<4x4x6x4xf32>) -> tensor<4x4x6x4xf32>
  %m = nn.rearrange "b h s k -> b s (h k)"(%a) : (tensor<4x4x6x4xf32>) -> tensor<4x6x16xf32>
  %y = nn.einsum "b s d, d e -> b s e"(%m, %o) : (tensor<4x6x16xf32>, tensor<16x16xf32>) -> tensor<4x6x16xf32>
  %z = arith.mulf %y, %y : tensor<4x6x16xf32>
  %l = nn.reduce mean "b s d ->"(%z) : (tensor<4x6x16xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
