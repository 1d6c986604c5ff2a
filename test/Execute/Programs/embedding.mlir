// RUN: %compare-program --mesh dp=4,tp=2 --mesh tp=4 %s
func.func @loss(%i: tensor<4x6xi32> {nn.input = "ids"}, 
    %t: tensor<16x8xf32> {nn.param = "t", nn.init = "normal 0.2"},
    %w: tensor<8x16xf32> {nn.param = "w", nn.init = "normal 0.2"},
    %g: tensor<16xf32> {nn.param = "g", nn.init = "ones"}) -> tensor<f32> {
  %x = nn.embedding %t, %i : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %h = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<4x6x8xf32>, tensor<8x16xf32>) -> tensor<4x6x16xf32>
  %n = nn.rms_norm %h, %g {eps = 1.0e-6 : f32} : (tensor<4x6x16xf32>, tensor<16xf32>) -> tensor<4x6x16xf32>
  %p = nn.log_softmax %n {dim = 2 : i64} : (tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  %pw = nn.einsum "b s e, e -> b s"(%p, %g) : (tensor<4x6x16xf32>, tensor<16xf32>) -> tensor<4x6xf32>
  %mx = nn.reduce max "b s e -> b s"(%h) : (tensor<4x6x16xf32>) -> tensor<4x6xf32>
  %z = arith.addf %pw, %mx : tensor<4x6xf32>
  %l = nn.reduce mean "b s ->"(%z) : (tensor<4x6xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
