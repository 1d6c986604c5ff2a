// RUN: %compare-program --mesh dp=2,tp=2 --mesh tp=4 %s
func.func @loss(%x: tensor<8x6xf32> {nn.input = "x"},
    %w: tensor<6x12xf32> {nn.param = "w", nn.init = "normal 0.2"},
    %s: tensor<3x4xf32> {nn.param = "s", nn.init = "normal 0.2"},
    %t: tensor<4x3xf32> {nn.param = "t", nn.init = "normal 0.2"}) -> tensor<f32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x6xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
  %p = nn.rearrange "b (i j) -> b i j"(%h) {i = 3 : i64} : (tensor<8x12xf32>) -> tensor<8x3x4xf32>
  %q = nn.rearrange "b (i j) -> b i j"(%h) {i = 4 : i64} : (tensor<8x12xf32>) -> tensor<8x4x3xf32>
  %a = nn.einsum "b i j, i j -> b"(%p, %s) : (tensor<8x3x4xf32>, tensor<3x4xf32>) -> tensor<8xf32>
  %c = nn.einsum "b i j, i j -> b"(%q, %t) : (tensor<8x4x3xf32>, tensor<4x3xf32>) -> tensor<8xf32>
  %r = nn.reshape %h : (tensor<8x12xf32>) -> tensor<16x6xf32>
  %e = math.exp %r : tensor<16x6xf32>
  %k = nn.softmax %e {dim = 0 : i64} : (tensor<16x6xf32>) -> tensor<16x6xf32>
  %kk = arith.mulf %k, %e : tensor<16x6xf32>
  %n = nn.reduce sum "i j ->"(%kk) : (tensor<16x6xf32>) -> tensor<f32>
  %d = arith.mulf %a, %c : tensor<8xf32>
  %m = nn.reduce mean "b ->"(%d) : (tensor<8xf32>) -> tensor<f32>
  %l = arith.addf %m, %n : tensor<f32>
  return %l : tensor<f32>
}
