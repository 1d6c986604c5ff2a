// RUN: %compare-program --mesh dp=2,tp=4 --mesh dp=2,tp=4 %s

// Parameters are stored as the user says, over parts of an axis too, against
// what their uses would choose.
dist.mesh @mesh <["dp"=2, "tp"=4]>
func.func @loss(%x: tensor<8x16xf32> {nn.input = "x"},
    %w: tensor<16x64xf32> {nn.param = "w", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [["tp"], []]>},
    %o: tensor<64x16xf32> {nn.param = "o", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [[], ["tp":(1)2]]>},
    %s: tensor<16xf32> {nn.param = "s", nn.init = "ones", dist.sharding = #dist.sharding<@mesh, [["dp", "tp"]]>}) -> tensor<f32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %r = nn.rearrange "b (h k) -> b h k"(%h) {h = 2 : i64} : (tensor<8x64xf32>) -> tensor<8x2x32xf32>
  %q = nn.softmax %r {dim = 2 : i64} : (tensor<8x2x32xf32>) -> tensor<8x2x32xf32>
  %m = nn.rearrange "b h k -> b (h k)"(%q) : (tensor<8x2x32xf32>) -> tensor<8x64xf32>
  %y = nn.einsum "b e, e d -> b d"(%m, %o) : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %z = nn.einsum "b d, d -> b d"(%y, %s) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %c = dist.constraint %z <@mesh, [["tp", "dp"], []]> : tensor<8x16xf32>
  %t = math.tanh %c : tensor<8x16xf32>
  %l = nn.reduce max "b d ->"(%t) : (tensor<8x16xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
