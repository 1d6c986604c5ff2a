// RUN: dist-opt %s --dist-outline-segments | FileCheck %s

// What stands between calls becomes a segment; constants are copied into it, and
// a call inside of a layer function becomes part of it.
// CHECK: module attributes {dist.phase = "staged"}
// CHECK-LABEL: func.func private @layer(
// CHECK-NOT:     call
// CHECK:         math.exp
// CHECK-LABEL: func.func private @step_0(
// CHECK:         %[[TWO:.*]] = arith.constant dense<2.0
// CHECK:         arith.mulf %{{.*}}, %[[TWO]]
// CHECK-LABEL: func.func @step(
// CHECK-NEXT:    %[[A:.*]] = call @step_0(
// CHECK-NEXT:    %[[B:.*]] = call @layer(%[[A]])
// CHECK-NEXT:    %[[C:.*]] = call @step_1(%[[B]])
// CHECK-NEXT:    return %[[C]]
func.func private @inner(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @layer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %0 = arith.mulf %x, %two : tensor<8xf32>
  %1 = call @layer(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = arith.addf %1, %two : tensor<8xf32>
  return %2 : tensor<8xf32>
}
