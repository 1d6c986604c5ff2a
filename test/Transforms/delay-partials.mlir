// RUN: dist-opt %s --dist-delay-partials | FileCheck %s

dist.mesh @mesh <["dp"=2, "tp"=4]>

// CHECK-LABEL: @add(
// CHECK-SAME: %[[A:.*]]: tensor<{{.*}}>, %[[B:.*]]: tensor<{{.*}}>)
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<8xf32, {{.*}}partial sum ["tp"]>>
// CHECK-NEXT: %[[R:.*]] = dist.reshard %[[S]]
// CHECK-NEXT: return %[[R]]
func.func @add(%a: tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>>, %b: tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>>) -> tensor<8xf32, #dist.sharding<@mesh, [[]]>> {
  %0 = dist.reshard %a : tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>> to tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  %1 = dist.reshard %b : tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>> to tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  %2 = arith.addf %0, %1 : tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  return %2 : tensor<8xf32, #dist.sharding<@mesh, [[]]>>
}

// A product of what is owed is not what the product owes.
// CHECK-LABEL: @multiply(
// CHECK-COUNT-2: dist.reshard
// CHECK: arith.mulf {{.*}} : tensor<8xf32, #dist.sharding<@mesh, {{\[\[}}]]>>
func.func @multiply(%a: tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>>, %b: tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>>) -> tensor<8xf32, #dist.sharding<@mesh, [[]]>> {
  %0 = dist.reshard %a : tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>> to tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  %1 = dist.reshard %b : tensor<8xf32, #dist.sharding<@mesh, [[]], partial sum ["tp"]>> to tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  %2 = arith.mulf %0, %1 : tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  return %2 : tensor<8xf32, #dist.sharding<@mesh, [[]]>>
}

// The sum over dimensions comes first: one scalar over both axes.
// CHECK-LABEL: @sum(
// CHECK: %[[S:.*]] = nn.reduce sum {{.*}} -> tensor<f32, #dist.sharding<@mesh, [], partial sum ["tp", "dp"]>>
// CHECK-NEXT: dist.reshard %[[S]]
func.func @sum(%a: tensor<8xf32, #dist.sharding<@mesh, [["dp"]], partial sum ["tp"]>>) -> tensor<f32, #dist.sharding<@mesh, []>> {
  %0 = dist.reshard %a : tensor<8xf32, #dist.sharding<@mesh, [["dp"]], partial sum ["tp"]>> to tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>>
  %1 = nn.reduce sum "i ->"(%0) : (tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>>) -> tensor<f32, #dist.sharding<@mesh, [], partial sum ["dp"]>>
  %2 = dist.reshard %1 : tensor<f32, #dist.sharding<@mesh, [], partial sum ["dp"]>> to tensor<f32, #dist.sharding<@mesh, []>>
  return %2 : tensor<f32, #dist.sharding<@mesh, []>>
}
