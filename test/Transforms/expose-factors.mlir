// RUN: dist-opt %s --dist-expose-factors --split-input-file --verify-diagnostics | FileCheck %s

// The split reaches back through the product to the parameter.
// CHECK-LABEL: @parameter(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<64x3x4x8xf32> {dist.logical = "d0 (d1 d2 d3)", nn.param = "w"})
// CHECK-NEXT: %[[Y:.*]] = nn.einsum "b d, d e0 e1 e2 -> b e0 e1 e2"(%{{.*}}, %[[W]])
// CHECK-NEXT: nn.rearrange "b c h k -> c b h k"(%[[Y]])
func.func @parameter(%x: tensor<8x64xf32> {nn.input = "x"}, %w: tensor<64x96xf32> {nn.param = "w"}) -> tensor<3x8x4x8xf32> {
  %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x64xf32>, tensor<64x96xf32>) -> tensor<8x96xf32>
  %h = nn.rearrange "b (c h k) -> c b h k"(%y) {c = 3 : i64, h = 4 : i64} : (tensor<8x96xf32>) -> tensor<3x8x4x8xf32>
  return %h : tensor<3x8x4x8xf32>
}

// 12 = 3·4 and 4·3: the second wants the dimension whole.
// CHECK-LABEL: @misfit(
// CHECK-SAME: %[[X:.*]]: tensor<8x3x4xf32> {dist.logical = "d0 (d1 d2)"})
// CHECK: %[[M:.*]] = nn.rearrange "d0 d1 d2 -> d0 (d1 d2)"(%[[X]])
// CHECK: nn.rearrange "b (i j) -> b i j"(%[[M]]) {i = 4 : i64, j = 3 : i64}
func.func @misfit(%x: tensor<8x12xf32>) -> (tensor<8x3x4xf32>, tensor<8x4x3xf32>) {
  %a = nn.rearrange "b (i j) -> b i j"(%x) {i = 3 : i64} : (tensor<8x12xf32>) -> tensor<8x3x4xf32>
  %b = nn.rearrange "b (i j) -> b i j"(%x) {i = 4 : i64} : (tensor<8x12xf32>) -> tensor<8x4x3xf32>
  return %a, %b : tensor<8x3x4xf32>, tensor<8x4x3xf32>
}

// Halves are one dimension of two.
// CHECK-LABEL: @halves(
// CHECK-SAME: %[[X:.*]]: tensor<8x2x6xf32> {dist.logical = "d0 (d1 d2)"})
// CHECK: nn.slice %[[X]] {limits = array<i64: 8, 1, 6>, starts = array<i64: 0, 0, 0>
// CHECK: nn.slice %[[X]] {limits = array<i64: 8, 2, 6>, starts = array<i64: 0, 1, 0>
func.func @halves(%x: tensor<8x12xf32>) -> tensor<8x6xf32> {
  %a = nn.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 8, 6>, strides = array<i64: 1, 1>} : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %b = nn.slice %x {starts = array<i64: 0, 6>, limits = array<i64: 8, 12>, strides = array<i64: 1, 1>} : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %c = arith.mulf %a, %b : tensor<8x6xf32>
  return %c : tensor<8x6xf32>
}

// -----

// Wishes are about logical dimensions; a block of the whole is one of its
// major factors.
dist.mesh @mesh <["dp"=2, "tp"=4]>
// CHECK-LABEL: @wishes(
// CHECK-SAME: tensor<8x4x3xf32> {dist.logical = "d0 (d1 d2)", dist.sharding = #dist.sharding<@mesh, {{\[\[}}"dp"], ["tp"], []]>}
// CHECK: dist.constraint %{{.*}} <@mesh, {{\[\[}}], ["dp"], []]> : tensor<8x4x3xf32>
func.func @wishes(%x: tensor<8x12xf32> {dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>}) -> tensor<8x4x3xf32> {
  %y = dist.constraint %x <@mesh, [[], ["dp"]]> : tensor<8x12xf32>
  %a = nn.rearrange "b (i j) -> b i j"(%y) {i = 4 : i64} : (tensor<8x12xf32>) -> tensor<8x4x3xf32>
  return %a : tensor<8x4x3xf32>
}

// -----

dist.mesh @mesh <["tp"=4]>
// expected-error@+2 {{parameter 'w': cannot split dimension 1: axis "tp" of size 4 does not divide the factor 3}}
// expected-note@+1 {{the program splits this dimension into factors of 3 x 4, major to minor; use axes that divide them in this order}}
func.func @loss(%w: tensor<8x12xf32> {nn.param = "w", dist.sharding = #dist.sharding<@mesh, [[], ["tp"]]>}) -> tensor<8x3x4xf32> {
  %a = nn.rearrange "b (i j) -> b i j"(%w) {i = 3 : i64} : (tensor<8x12xf32>) -> tensor<8x3x4xf32>
  return %a : tensor<8x3x4xf32>
}

// -----

dist.mesh @mesh <["tp"=4]>
func.func @loss(%x: tensor<8x12xf32>) -> tensor<8x3x4xf32> {
  // expected-error@+2 {{'dist.constraint' op cannot split dimension 1: axis "tp" of size 4 does not divide the factor 3}}
  // expected-note@+1 {{factors of 3 x 4}}
  %y = dist.constraint %x <@mesh, [[], ["tp"]]> : tensor<8x12xf32>
  %a = nn.rearrange "b (i j) -> b i j"(%y) {i = 3 : i64} : (tensor<8x12xf32>) -> tensor<8x3x4xf32>
  return %a : tensor<8x3x4xf32>
}
