// RUN: %compare-program --mesh dp=2,tp=2 --mesh tp=4 %s

// No input, a parameter of rank 0, a softmax over a split dimension and a
// maximum over everything.
func.func @loss(%w: tensor<16x8xf32> {nn.param = "w", nn.init = "normal 0.2"}, %s: tensor<f32> {nn.param = "s", nn.init = "ones"}) -> tensor<f32> {
  %y = nn.softmax %w {dim = 0 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %t = math.tanh %y : tensor<16x8xf32>
  %l = nn.reduce max "b d ->"(%t) : (tensor<16x8xf32>) -> tensor<f32>
  %m = arith.mulf %l, %s : tensor<f32>
  %n = arith.mulf %m, %s : tensor<f32>
  return %n : tensor<f32>
}
