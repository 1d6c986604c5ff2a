// RUN: dist-opt %s --dist-differentiate --split-input-file --verify-diagnostics | FileCheck %s

// A layer is differentiated once for both calls; its backward reads what the
// forward saved. A frozen parameter has no gradient, one that the loss does not
// reach has zero.
// CHECK-LABEL: func.func private @layer_fwd(
// CHECK:         return %[[Y:.*]], %[[Y]]
// CHECK-LABEL: func.func private @layer_bwd(
// CHECK-SAME:    %{{.*}}, %{{.*}}, %[[SAVED:.*]]: tensor<8x4xf32>, %[[DY:.*]]: tensor<8x4xf32>)
// CHECK:         arith.mulf %[[DY]], %[[SAVED]]
// CHECK-LABEL: func.func private @loss_and_grad(
// CHECK-SAME:    -> (tensor<f32> {nn.loss}, tensor<f32> {nn.metric = "m"}, tensor<4x4xf32> {nn.grad = "w"}, tensor<2xf32> {nn.grad = "u"})
// CHECK:         %[[B1:.*]]:2 = call @layer_bwd
// CHECK:         %[[B0:.*]]:2 = call @layer_bwd({{.*}}, %[[B1]]#0)
// CHECK:         %[[DW:.*]] = arith.addf %[[B1]]#1, %[[B0]]#1
// CHECK:         %[[DU:.*]] = arith.constant dense<0.0{{.*}}> : tensor<2xf32>
// CHECK:         return %{{.*}}, %{{.*}}, %[[DW]], %[[DU]]
func.func private @layer(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = math.exp %h : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func @loss(%x: tensor<8x4xf32> {nn.input = "x"}, %w: tensor<4x4xf32> {nn.param = "w"}, %f: tensor<4xf32> {nn.param = "f", nn.frozen}, %u: tensor<2xf32> {nn.param = "u"}) -> (tensor<f32>, tensor<f32> {nn.metric = "m"}) {
  %1 = func.call @layer(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %2 = func.call @layer(%1, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = nn.einsum "b d, d ->"(%2, %f) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<f32>
  return %3, %3 : tensor<f32>, tensor<f32>
}

// -----

// What only renames elements is not kept: of q, k and v the product that they
// are slices of, of an attention's result the order that its reader wants.
// CHECK-LABEL: func.func private @heads_fwd(
// CHECK:         %[[QKV:.*]] = nn.einsum
// CHECK:         %[[O:.*]], %[[LSE:.*]] = nn.attention
// CHECK:         %[[MERGED:.*]] = nn.rearrange "b h s k -> b s (h k)"(%[[O]])
// CHECK:         return %[[MERGED]], %[[MERGED]], %[[QKV]], %[[LSE]]
// CHECK-LABEL: func.func private @heads_bwd(
// CHECK:         %[[BACK:.*]] = nn.rearrange "b s (h k) -> b h s k"
// CHECK:         nn.attention_grad {{.*}}, %[[BACK]], %{{.*}}, %{{.*}}
func.func private @heads(%x: tensor<2x8x4xf32>, %w: tensor<4x12xf32>) -> tensor<2x8x4xf32> {
  %qkv = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<2x8x4xf32>, tensor<4x12xf32>) -> tensor<2x8x12xf32>
  %split = nn.rearrange "b s (c h k) -> c b h s k"(%qkv) {c = 3 : i64, h = 2 : i64} : (tensor<2x8x12xf32>) -> tensor<3x2x2x8x2xf32>
  %q0 = nn.slice %split {starts = array<i64: 0, 0, 0, 0, 0>, limits = array<i64: 1, 2, 2, 8, 2>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x2x8x2xf32>) -> tensor<1x2x2x8x2xf32>
  %k0 = nn.slice %split {starts = array<i64: 1, 0, 0, 0, 0>, limits = array<i64: 2, 2, 2, 8, 2>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x2x8x2xf32>) -> tensor<1x2x2x8x2xf32>
  %v0 = nn.slice %split {starts = array<i64: 2, 0, 0, 0, 0>, limits = array<i64: 3, 2, 2, 8, 2>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x2x8x2xf32>) -> tensor<1x2x2x8x2xf32>
  %q = nn.rearrange "1 b h s k -> b h s k"(%q0) : (tensor<1x2x2x8x2xf32>) -> tensor<2x2x8x2xf32>
  %k = nn.rearrange "1 b h s k -> b h s k"(%k0) : (tensor<1x2x2x8x2xf32>) -> tensor<2x2x8x2xf32>
  %v = nn.rearrange "1 b h s k -> b h s k"(%v0) : (tensor<1x2x2x8x2xf32>) -> tensor<2x2x8x2xf32>
  %o = nn.attention %q, %k, %v {causal, scale = 0.5 : f32} : (tensor<2x2x8x2xf32>, tensor<2x2x8x2xf32>, tensor<2x2x8x2xf32>) -> tensor<2x2x8x2xf32>
  %merged = nn.rearrange "b h s k -> b s (h k)"(%o) : (tensor<2x2x8x2xf32>) -> tensor<2x8x4xf32>
  return %merged : tensor<2x8x4xf32>
}
func.func @loss(%x: tensor<2x8x4xf32> {nn.input = "x"}, %w: tensor<4x12xf32> {nn.param = "w"}, %u: tensor<2x8x4xf32> {nn.input = "u"}) -> tensor<f32> {
  %1 = func.call @heads(%x, %w) : (tensor<2x8x4xf32>, tensor<4x12xf32>) -> tensor<2x8x4xf32>
  %2 = nn.einsum "b s d, b s d ->"(%1, %u) : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// expected-error@+1 {{has no function 'loss'}}
module {
  func.func @other(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}

// -----

// expected-error@+1 {{returns nothing to differentiate}}
func.func @loss(%w: tensor<8xf32> {nn.param = "w"}) {
  return
}
