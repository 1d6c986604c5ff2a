// RUN: dist-opt %s --dist-build-evaluation | FileCheck %s

// The step's layer function keeps its dropout; the loss calls a copy without.
// CHECK-LABEL: func.func private @block(
// CHECK:         nn.dropout
// CHECK-LABEL: func.func private @block__eval(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>
// CHECK-NEXT:    return %[[X]]
// CHECK-LABEL: func.func @loss(
// CHECK:         call @block__eval(
// CHECK-LABEL: func.func @step(
// CHECK:         call @block(
func.func private @block(%x: tensor<8xf32>, %key: tensor<2xi32>) -> tensor<8xf32> {
  %y = nn.dropout %x, %key {rate = 0.1 : f32} : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @loss(%x: tensor<8xf32>, %key: tensor<2xi32>) -> tensor<8xf32> {
  %y = call @block(%x, %key) : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @step(%x: tensor<8xf32>, %key: tensor<2xi32>) -> tensor<8xf32> {
  %y = call @block(%x, %key) : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

