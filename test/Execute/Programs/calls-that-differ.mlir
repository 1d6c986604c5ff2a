// RUN: %compare-program --mesh dp=2,tp=2 --mesh dp=2,tp=2 %s

// One function called with operands that lie differently.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func private @f(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %t = math.tanh %h : tensor<8x16xf32>
  return %t : tensor<8x16xf32>
}
func.func @loss(%x: tensor<8x16xf32> {nn.input = "x", dist.sharding = #dist.sharding<@mesh, [["tp"], []]>}, %z: tensor<8x16xf32> {nn.input = "z", dist.sharding = #dist.sharding<@mesh, [[], ["dp"]]>},
  %w: tensor<16x16xf32> {nn.param = "w", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [["tp"], ["dp"]]>}, %v: tensor<16x16xf32> {nn.param = "v", nn.init = "normal 0.2"}) -> tensor<f32> {
  %a = func.call @f(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %b = func.call @f(%z, %v) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %k = func.call @f(%b, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %c = arith.mulf %a, %k : tensor<8x16xf32>
  %l = nn.reduce mean "b d ->"(%c) : (tensor<8x16xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
