// RUN: %compare-program --mesh dp=2,tp=4 --mesh dp=2,tp=4 --print %s | FileCheck %s
// RUN: dist-opt %s --dist-to-step | dist-interp - --f64 --print | FileCheck %s --check-prefix=VALUE

// Ties lie on all shards of the batch and of a parameter: their number is a sum
// over all of them.
// CHECK: dist.all_reduce max %{{.*}} over ["dp", "tp"]
// VALUE: grad:w = [0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125]
// VALUE: grad:v = [1, 1, 1, 1, 1, 1, 1, 1]
dist.mesh @mesh <["dp"=2, "tp"=4]>
func.func @loss(%x: tensor<4x8xf32> {nn.input = "x"},
    %w: tensor<8xf32> {nn.param = "w", nn.init = "ones", dist.sharding = #dist.sharding<@mesh, [["tp"]]>},
    %v: tensor<8xf32> {nn.param = "v", nn.init = "ones", dist.sharding = #dist.sharding<@mesh, [["tp"]]>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %none = arith.mulf %x, %zero : tensor<4x8xf32>
  %ws = nn.repeat "d -> b d"(%w) : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = arith.addf %none, %ws : tensor<4x8xf32>
  %most = nn.reduce max "b d ->"(%y) : (tensor<4x8xf32>) -> tensor<f32>
  %vs = nn.repeat "d -> b d"(%v) : (tensor<8xf32>) -> tensor<4x8xf32>
  %z = arith.addf %none, %vs : tensor<4x8xf32>
  %least = nn.reduce min "b d -> d"(%z) : (tensor<4x8xf32>) -> tensor<8xf32>
  %sum = nn.reduce sum "d ->"(%least) : (tensor<8xf32>) -> tensor<f32>
  %l = arith.addf %most, %sum : tensor<f32>
  return %l : tensor<f32>
}
