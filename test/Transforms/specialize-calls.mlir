// RUN: dist-opt %s --dist-specialize-calls --split-input-file | FileCheck %s
// RUN: dist-opt %s --dist-specialize-calls='constraints=a=[[]],d=[[]]' --split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: not dist-opt %s --dist-specialize-calls=constraints=w --split-input-file 2>&1 | FileCheck %s --check-prefix=TEXT

// TEXT: constraints: expected a list

// Calls that agree share a function, which calls its own of what it calls; the
// first keeps the name.
// CHECK-LABEL: func.func private @inner(
// CHECK-LABEL: func.func private @inner__1(
// CHECK-LABEL: func.func private @outer(
// CHECK: call @inner(
// CHECK-LABEL: func.func private @outer__1(
// CHECK: call @inner__1(
// CHECK-LABEL: func.func @loss(
// CHECK: call @outer(
// CHECK: call @outer__1(
// CHECK: call @outer(
// CHECK: call @outer__1(
// PLAN-LABEL: func.func @loss(
// PLAN: call @outer(
// PLAN: call @outer__1(
// PLAN: call @outer__2(
// PLAN: call @outer__3(
dist.mesh @mesh <["tp"=2]>
func.func private @inner(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.mulf %x, %w : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @outer(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @inner(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %a: tensor<8xf32> {nn.param = "a"},
    %b: tensor<8xf32> {nn.param = "b", dist.sharding = #dist.sharding<@mesh, [["tp"]]>},
    %c: tensor<8xf32> {nn.param = "c"}, %d: tensor<8xf32> {nn.param = "d", dist.sharding = #dist.sharding<@mesh, [["tp"]]>}) -> tensor<f32> {
  %0 = call @outer(%x, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = call @outer(%0, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = call @outer(%1, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = call @outer(%2, %d) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %l = nn.reduce sum "a ->"(%3) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A constraint on what is passed says how it is to lie.
// CHECK-LABEL: func.func @loss(
// CHECK: call @f(
// CHECK: call @f__1(
dist.mesh @mesh <["tp"=2]>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @loss(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %0 = call @f(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = dist.constraint %0 <@mesh, [["tp"]]> : tensor<8xf32>
  %2 = call @f(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %l = nn.reduce sum "a ->"(%2) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
