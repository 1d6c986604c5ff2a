// RUN: %compare-program --mesh dp=2,tp=2 --mesh dp=2,tp=2 --mesh dp=2,tp=2 --print %s | FileCheck %s

// One layer function whose weights the user wants split in one call and whole
// in the other: each call computes as its weights lie. Nothing is gathered or
// cut; the whole layer sends nothing over tp.
// CHECK-NOT: dist.all_gather
// CHECK-NOT: dist.slice
// CHECK-NOT: dist.all_to_all
// CHECK-LABEL: func.func private @layer_fwd(
// CHECK: dist.all_reduce sum %{{.*}} over ["tp"]
// CHECK-NOT: dist.all_gather
// CHECK-NOT: dist.slice
// CHECK-LABEL: func.func private @layer__1_fwd(
// CHECK-NOT: over ["tp"]
// CHECK-NOT: dist.slice
// CHECK-LABEL: func.func @step(
// CHECK-NOT: dist.all_gather
// CHECK-NOT: dist.slice
// CHECK-NOT: dist.all_to_all
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func private @layer(%x: tensor<8x8xf32>, %up: tensor<8x32xf32>, %down: tensor<32x8xf32>) -> tensor<8x8xf32> {
  %h = nn.einsum "b d, d f -> b f"(%x, %up) : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %t = math.tanh %h : tensor<8x32xf32>
  %y = nn.einsum "b f, f d -> b d"(%t, %down) : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %z = arith.addf %x, %y : tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}
func.func @loss(%x: tensor<8x8xf32> {nn.input = "x"},
    %up0: tensor<8x32xf32> {nn.param = "up0", nn.init = "normal 0.3", dist.sharding = #dist.sharding<@mesh, [[], ["tp"]]>},
    %down0: tensor<32x8xf32> {nn.param = "down0", nn.init = "normal 0.3", dist.sharding = #dist.sharding<@mesh, [["tp"], []]>},
    %up1: tensor<8x32xf32> {nn.param = "up1", nn.init = "normal 0.3", dist.sharding = #dist.sharding<@mesh, [[], []]>},
    %down1: tensor<32x8xf32> {nn.param = "down1", nn.init = "normal 0.3", dist.sharding = #dist.sharding<@mesh, [[], []]>}) -> tensor<f32> {
  %0 = func.call @layer(%x, %up0, %down0) : (tensor<8x8xf32>, tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %1 = func.call @layer(%0, %up1, %down1) : (tensor<8x8xf32>, tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %2 = arith.mulf %1, %1 : tensor<8x8xf32>
  %l = nn.reduce mean "b d ->"(%2) : (tensor<8x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
