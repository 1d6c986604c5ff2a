// RUN: %compare-program --mesh dp=2,tp=2 --mesh tp=2,dp=4 %s
func.func @loss(%x: tensor<8x16xf32> {nn.input = "x"}, %y: tensor<4x8xf32> {nn.input = "y", nn.batch = 1},
    %t: tensor<16xf32> {nn.input = "t", nn.no_batch},
    %w: tensor<16x12xf32> {nn.param = "w", nn.init = "normal 0.1"},
    %f: tensor<12x4xf32> {nn.param = "f", nn.init = "normal 0.1", nn.frozen},
    %u: tensor<12x4xf32> {nn.param = "u", nn.init = "normal 0.1"},
    %s: tensor<f32> {nn.param = "s", nn.init = "ones"}) -> (tensor<f32>, tensor<f32> {nn.metric = "m"}, tensor<f32> {nn.metric = "mx"}) {
  %tb = nn.repeat "d -> b d"(%t) : (tensor<16xf32>) -> tensor<8x16xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : tensor<12xf32>
  %xt = arith.addf %x, %tb : tensor<8x16xf32>
  %h = nn.einsum "b d, d e -> b e"(%xt, %w) : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
  %cb = nn.repeat "e -> b e"(%c) : (tensor<12xf32>) -> tensor<8x12xf32>
  %hc = arith.mulf %h, %cb : tensor<8x12xf32>
  %p = nn.einsum "b e, e f -> f b"(%hc, %f) : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<4x8xf32>
  %sb = nn.repeat "-> f b"(%s) : (tensor<f32>) -> tensor<4x8xf32>
  %ps = arith.mulf %p, %sb : tensor<4x8xf32>
  %d = arith.subf %ps, %y : tensor<4x8xf32>
  %d2 = arith.mulf %d, %d : tensor<4x8xf32>
  %l = nn.reduce mean "f b ->"(%d2) : (tensor<4x8xf32>) -> tensor<f32>
  %a = math.absf %p : tensor<4x8xf32>
  %m = nn.reduce mean "f b ->"(%a) : (tensor<4x8xf32>) -> tensor<f32>
  %mx = nn.reduce max "f b ->"(%p) : (tensor<4x8xf32>) -> tensor<f32>
  return %l, %m, %mx : tensor<f32>, tensor<f32>, tensor<f32>
}
