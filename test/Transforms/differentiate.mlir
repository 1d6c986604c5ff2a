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
