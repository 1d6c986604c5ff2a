// RUN: dist-opt %s --dist-partition | FileCheck %s

dist.mesh @mesh <["dp"=2, "tp"=4]>

// CHECK-LABEL: @reduce(
// CHECK-SAME: tensor<4x16xf32, #dist.local<varying ["dp"], partial sum ["tp"]>>
// CHECK: dist.all_reduce sum %{{.*}} over ["tp"] : {{.*}} -> tensor<4x16xf32, #dist.local<varying ["dp"]>>
// CHECK: dist.reduce_scatter sum %{{.*}} over ["tp"] {dim = 1 : i64} : {{.*}} -> tensor<4x4xf32, #dist.local<varying ["dp", "tp"]>>
func.func private @reduce(%x: tensor<8x16xf32, #dist.sharding<@mesh, [["dp"], []], partial sum ["tp"]>>) {
  %0 = dist.reshard %x : tensor<8x16xf32, #dist.sharding<@mesh, [["dp"], []], partial sum ["tp"]>> to tensor<8x16xf32, #dist.sharding<@mesh, [["dp"], []]>>
  %1 = dist.reshard %x : tensor<8x16xf32, #dist.sharding<@mesh, [["dp"], []], partial sum ["tp"]>> to tensor<8x16xf32, #dist.sharding<@mesh, [["dp"], ["tp"]]>>
  return
}

// What is owed over two axes: one is scattered, the other reduced.
// CHECK-LABEL: @reduce_two(
// CHECK: %[[S:.*]] = dist.reduce_scatter sum %{{.*}} over ["dp"] {dim = 0 : i64}
// CHECK: dist.all_reduce sum %[[S]] over ["tp"]
func.func private @reduce_two(%x: tensor<16xf32, #dist.sharding<@mesh, [[]], partial sum ["dp", "tp"]>>) {
  %0 = dist.reshard %x : tensor<16xf32, #dist.sharding<@mesh, [[]], partial sum ["dp", "tp"]>> to tensor<16xf32, #dist.sharding<@mesh, [["dp"]]>>
  return
}

// CHECK-LABEL: @move(
// CHECK: dist.all_to_all %{{.*}} over ["tp"] {concat = 0 : i64, split = 1 : i64} : {{.*}} -> tensor<16x4xf32, #dist.local<varying ["tp"]>>
// CHECK: dist.all_gather %{{.*}} over ["tp"] {dim = 0 : i64} : {{.*}} -> tensor<16x16xf32>
// CHECK: dist.slice %{{.*}} over ["dp"] {dim = 1 : i64} : {{.*}} -> tensor<4x8xf32, #dist.local<varying ["dp", "tp"]>>
func.func private @move(%x: tensor<16x16xf32, #dist.sharding<@mesh, [["tp"], []]>>) {
  %0 = dist.reshard %x : tensor<16x16xf32, #dist.sharding<@mesh, [["tp"], []]>> to tensor<16x16xf32, #dist.sharding<@mesh, [[], ["tp"]]>>
  %1 = dist.reshard %x : tensor<16x16xf32, #dist.sharding<@mesh, [["tp"], []]>> to tensor<16x16xf32, #dist.sharding<@mesh, [[], []]>>
  %2 = dist.reshard %x : tensor<16x16xf32, #dist.sharding<@mesh, [["tp"], []]>> to tensor<16x16xf32, #dist.sharding<@mesh, [["tp"], ["dp"]]>>
  return
}

// Ops that know positions learn where their block lies; dropped probabilities
// are drawn by the place of the scores.
// CHECK-LABEL: @places(
// CHECK: nn.iota {dim = 0 : i64, place = #dist.place<@mesh, {{\[\[}}"tp"]], [16]>} : () -> tensor<4xi32
// CHECK: nn.attention {{.*}} place = #dist.place<@mesh, {{\[\[}}"dp"], ["tp"], [], []], [2, 4, 16, 16]>
func.func private @places(%q: tensor<2x4x16x8xf32, #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>>, %key: tensor<2xi32, #dist.sharding<@mesh, [[]]>>) {
  %0 = nn.iota {dim = 0 : i64} : () -> tensor<16xi32, #dist.sharding<@mesh, [["tp"]]>>
  %1 = nn.attention %q, %q, %q key(%key) {scale = 1.0 : f32, dropout = 0.5 : f32} : (tensor<2x4x16x8xf32, #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>>, tensor<2x4x16x8xf32, #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>>, tensor<2x4x16x8xf32, #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>>, tensor<2xi32, #dist.sharding<@mesh, [[]]>>) -> tensor<2x4x16x8xf32, #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>>
  return
}

// Who calls a public function has to cut and join its values.
// CHECK-LABEL: func.func @entry(
// CHECK-SAME: tensor<2xf32, #dist.local<varying ["tp"]>> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"tp"]]>}) -> (tensor<2xf32, #dist.local<varying ["tp"]>> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"tp"]]>})
func.func @entry(%x: tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>>) -> tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>> {
  return %x : tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>>
}
