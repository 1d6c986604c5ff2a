// RUN: dist-opt %s --pass-pipeline="builtin.module(func.func(dist-combine-reductions))" | FileCheck %s

dist.mesh @mesh <["dp"=2, "tp"=4]>

// CHECK-LABEL: @independent(
// CHECK-SAME: %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>)
// CHECK-NEXT: %[[R:.*]]:2 = dist.all_reduce sum %[[B]], %[[A]] over ["dp"]
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[R]]#1, %[[R]]#0
func.func @independent(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = dist.all_reduce sum %a over ["dp"] : (tensor<f32>) -> tensor<f32>
  %1 = dist.all_reduce sum %b over ["dp"] : (tensor<f32>) -> tensor<f32>
  %2 = arith.divf %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// One needs the other, another kind, other axes, and what is no scalar.
// CHECK-LABEL: @apart(
// CHECK-COUNT-5: = dist.all_reduce
func.func @apart(%a: tensor<f32>, %v: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>) {
  %0 = dist.all_reduce sum %a over ["dp"] : (tensor<f32>) -> tensor<f32>
  %1 = dist.all_reduce sum %0 over ["dp"] : (tensor<f32>) -> tensor<f32>
  %2 = dist.all_reduce max %a over ["dp"] : (tensor<f32>) -> tensor<f32>
  %3 = dist.all_reduce max %a over ["tp"] : (tensor<f32>) -> tensor<f32>
  %4 = dist.all_reduce max %v over ["tp"] : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2, %3, %4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>
}
