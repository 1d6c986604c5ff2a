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

// The norm needs the squares of both gradients, an update the norm: two equal
// updates are one segment, called twice.
// RUN: dist-opt %s --dist-outline-segments | FileCheck %s --check-prefix=GROUPS
// GROUPS-LABEL: func.func @updates(
// GROUPS-DAG:     %[[S:.*]] = call @[[SQUARES:.*]](%arg0) : (tensor<8xf32>) -> tensor<f32>
// GROUPS-DAG:     %[[T:.*]] = call @[[SQUARES]](%arg1) : (tensor<8xf32>) -> tensor<f32>
// GROUPS:         %[[NORM:.*]] = call @{{.*}}(%[[S]], %[[T]])
// GROUPS-DAG:     call @[[UPDATE:.*]](%[[NORM]], %arg0)
// GROUPS-DAG:     call @[[UPDATE]](%[[NORM]], %arg1)
func.func @updates(%g: tensor<8xf32>, %h: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %gg = arith.mulf %g, %g : tensor<8xf32>
  %s = nn.reduce sum "i ->"(%gg) : (tensor<8xf32>) -> tensor<f32>
  %hh = arith.mulf %h, %h : tensor<8xf32>
  %t = nn.reduce sum "i ->"(%hh) : (tensor<8xf32>) -> tensor<f32>
  %sum = arith.addf %s, %t : tensor<f32>
  %norm = math.sqrt %sum : tensor<f32>
  %all = nn.repeat "-> i"(%norm) : (tensor<f32>) -> tensor<8xf32>
  %u = arith.divf %g, %all : tensor<8xf32>
  %v = arith.divf %h, %all : tensor<8xf32>
  return %u, %v : tensor<8xf32>, tensor<8xf32>
}
