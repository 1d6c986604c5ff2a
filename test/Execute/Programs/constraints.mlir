// RUN: %compare-program --mesh dp=2,tp=2 --mesh dp=2,tp=2 %s

// Wishes of the user on parameters, on a value and inside of a layer, against
// what the search would choose and on dimensions that the program splits.
dist.mesh @mesh <["dp"=2, "tp"=2]>

func.func private @layer(%x: tensor<8x16xf32>, %w: tensor<16x48xf32>, %v: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x48xf32>) -> tensor<8x48xf32>
  %k = dist.constraint %h <@mesh, [["dp"], ["tp"]]> : tensor<8x48xf32>
  %s = nn.rearrange "b (c e) -> c b e"(%k) {c = 4 : i64} : (tensor<8x48xf32>) -> tensor<4x8x12xf32>
  %r = nn.reduce sum "c b e -> b e"(%s) : (tensor<4x8x12xf32>) -> tensor<8x12xf32>
  %p = nn.pad %r {low = array<i64: 0, 0>, high = array<i64: 0, 4>, value = 0.0 : f32} : (tensor<8x12xf32>) -> tensor<8x16xf32>
  %y = nn.einsum "b d, d e -> b e"(%p, %v) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %z = arith.addf %x, %y : tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}

func.func @loss(%x: tensor<8x16xf32> {nn.input = "x"},
    %w: tensor<16x48xf32> {nn.param = "w", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [[], ["tp"]]>},
    %v: tensor<16x16xf32> {nn.param = "v", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>},
    %u: tensor<16x16xf32> {nn.param = "u", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [[], []]>}) -> tensor<f32> {
  %0 = func.call @layer(%x, %w, %v) : (tensor<8x16xf32>, tensor<16x48xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = func.call @layer(%0, %w, %u) : (tensor<8x16xf32>, tensor<16x48xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %2 = dist.constraint %1 <@mesh, [["tp"], ["dp"]]> : tensor<8x16xf32>
  %3 = nn.einsum "b d, d e -> b e"(%2, %u) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %4 = arith.mulf %3, %3 : tensor<8x16xf32>
  %5 = nn.reduce mean "b e ->"(%4) : (tensor<8x16xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}
