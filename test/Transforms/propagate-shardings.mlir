// RUN: dist-opt %s --dist-propagate-shardings=zero=1 --split-input-file --verify-diagnostics | FileCheck %s

// Columns, then rows: one partial sum. The batch is split over dp, the state
// and the gradient that meets it are stored over dp.
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32, #dist.sharding<@mesh, {{\[\[}}"dp"], []]>> {nn.input = "x"}
// CHECK-SAME: tensor<16x64xf32, #dist.sharding<@mesh, {{\[\[}}], ["tp"]]>> {nn.param = "w"}
// CHECK-SAME: tensor<64x16xf32, #dist.sharding<@mesh, {{\[\[}}"tp"], []]>> {nn.param = "v"}
// CHECK-SAME: tensor<16x64xf32, #dist.sharding<@mesh, {{\[\[}}"dp"], ["tp"]]>> {nn.state = "m:w"}
// CHECK: %[[H:.*]] = nn.einsum "b d, d f -> b f"
// CHECK: %[[Y:.*]] = nn.einsum "b f, f d -> b d"{{.*}} -> tensor<8x16xf32, #dist.sharding<@mesh, {{\[\[}}"dp"], []], partial sum ["tp"]>>
// CHECK-NEXT: dist.reshard %[[Y]]
// CHECK: %[[G:.*]] = nn.einsum "b d, b f -> d f"(%[[X]], %[[H]]){{.*}}partial sum ["dp"]>>
// CHECK: dist.reshard %[[G]] {{.*}} to tensor<16x64xf32, #dist.sharding<@mesh, {{\[\[}}"dp"], ["tp"]]>>
dist.mesh @mesh <["dp"=2, "tp"=4]>
func.func @step(%x: tensor<8x16xf32> {nn.input = "x"}, %w: tensor<16x64xf32> {nn.param = "w"}, %v: tensor<64x16xf32> {nn.param = "v"}, %m: tensor<16x64xf32> {nn.state = "m:w"}) -> (tensor<16x64xf32> {nn.param = "w"}, tensor<16x64xf32> {nn.state = "m:w"}, tensor<8x16xf32>, tensor<16x64xf32> {nn.grad = "w"}) {
  %h = nn.einsum "b d, d f -> b f"(%x, %w) : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %y = nn.einsum "b f, f d -> b d"(%h, %v) : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %g = nn.einsum "b d, b f -> d f"(%x, %h) : (tensor<8x16xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
  %n = arith.addf %m, %g : tensor<16x64xf32>
  %p = arith.subf %w, %n : tensor<16x64xf32>
  return %p, %n, %y, %g : tensor<16x64xf32>, tensor<16x64xf32>, tensor<8x16xf32>, tensor<16x64xf32>
}

// -----

// A constant whose elements differ is whole on every device and cut where it
// is used; a splat has the sharding of its use.
dist.mesh @mesh <["dp"=2]>
// CHECK-LABEL: @constants(
// CHECK: %[[C:.*]] = arith.constant dense<[1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32, #dist.sharding<@mesh, {{\[\[}}]]>>
// CHECK: arith.constant dense<3.0{{.*}}> : tensor<2xf32, #dist.sharding<@mesh, {{\[\[}}"dp"]]>>
// CHECK: dist.reshard %[[C]] : {{.*}} to tensor<2xf32, #dist.sharding<@mesh, {{\[\[}}"dp"]]>>
func.func @constants(%x: tensor<2xf32> {nn.input = "x"}) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<3.0> : tensor<2xf32>
  %0 = arith.addf %x, %s : tensor<2xf32>
  %1 = arith.addf %0, %c : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

dist.mesh @mesh <["dp"=4]>
// expected-error@+2 {{input 'x': batch dimension 0 of size 6 does not divide over dp=4}}
// expected-note@+1 {{use a batch that is a multiple of 4}}
func.func @loss(%x: tensor<6xf32> {nn.input = "x"}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

dist.mesh @mesh <["tp"=4]>
// expected-error@+2 {{parameter 'w': dimension 0 of size 6 does not divide over the 4 devices of its sharding}}
// expected-note@+1 {{use axes whose size divides 6}}
func.func @loss(%w: tensor<6xf32> {nn.param = "w", dist.sharding = #dist.sharding<@mesh, [["tp"]]>}) -> tensor<6xf32> {
  return %w : tensor<6xf32>
}

// -----

dist.mesh @mesh <["tp"=4]>
func.func @loss(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error@+2 {{'dist.constraint' op dimension 0 of size 6 does not divide over 4 devices}}
  // expected-note@+1 {{use axes whose size divides 6}}
  %0 = dist.constraint %x <@mesh, [["tp"]]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}
