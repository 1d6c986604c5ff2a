// RUN: %compare-program --mesh dp=2,tp=2 --mesh tp=4 %s
func.func private @inner(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %g = nn.gelu %h : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %g : tensor<8x16xf32>
}
func.func private @a(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %h = func.call @inner(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %g = nn.einsum "b d, d e -> b e"(%h, %v) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %r = arith.addf %x, %g : tensor<8x16xf32>
  return %r, %h : tensor<8x16xf32>, tensor<8x16xf32>
}
func.func private @b(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %h = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %z = nn.silu %h : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %g = nn.einsum "b d, d e -> b e"(%z, %v) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %r = arith.addf %x, %g : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
func.func @loss(%x: tensor<8x16xf32> {nn.input = "x"},
    %w: tensor<16x16xf32> {nn.param = "w", nn.init = "normal 0.2"},
    %v: tensor<16x16xf32> {nn.param = "v", nn.init = "normal 0.2"},
    %p: tensor<16x32xf32> {nn.param = "p", nn.init = "normal 0.2"},
    %q: tensor<32x16xf32> {nn.param = "q", nn.init = "normal 0.2"},
    %k: tensor<16x16xf32> {nn.param = "k", nn.init = "normal 0.2", nn.frozen}) -> tensor<f32> {
  %1, %u = func.call @a(%x, %w, %v) : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  %2 = func.call @b(%1, %p, %q) : (tensor<8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %3, %t = func.call @a(%2, %v, %k) : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  %4 = func.call @inner(%3, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %5 = nn.einsum "b d, d e -> b e"(%4, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %6 = arith.addf %5, %t : tensor<8x16xf32>
  %7 = arith.mulf %6, %6 : tensor<8x16xf32>
  %l = nn.reduce mean "b d ->"(%7) : (tensor<8x16xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
