// Gradients that are the masks: of `w` the dropped ones, of `a` the dropped
// probabilities of an attention whose scores are equal and whose values are
// rows of the identity.
func.func @loss(%key: tensor<2xi32> {nn.key},
                %x: tensor<8x4x12xf32> {nn.input = "x"},
                %q: tensor<8x4x8x4xf32> {nn.input = "q"},
                %v: tensor<8x2x8x8xf32> {nn.input = "v"},
                %w: tensor<8x4x12xf32> {nn.param = "w", nn.init = "uniform -1.0 1.0"},
                %a: tensor<8x4x8x8xf32> {nn.param = "a", nn.init = "normal 1.0"},
                %u: tensor<7x5xf32> {nn.param = "u", nn.init = "normal 3.0"}) -> tensor<f32> {
  %k1 = nn.fold_in %key {data = 1 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %k2 = nn.fold_in %key {data = 2 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %d = nn.dropout %x, %k1 {rate = 0.3 : f32} : (tensor<8x4x12xf32>, tensor<2xi32>) -> tensor<8x4x12xf32>
  %dw = arith.mulf %d, %w : tensor<8x4x12xf32>
  %l1 = nn.reduce sum "b s d ->"(%dw) : (tensor<8x4x12xf32>) -> tensor<f32>
  %k = nn.slice %q {starts = array<i64: 0, 0, 0, 0>, limits = array<i64: 8, 2, 8, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<8x4x8x4xf32>) -> tensor<8x2x8x4xf32>
  %o = nn.attention %q, %k, %v key(%k2) {scale = 1.0 : f32, dropout = 0.4 : f32} : (tensor<8x4x8x4xf32>, tensor<8x2x8x4xf32>, tensor<8x2x8x8xf32>, tensor<2xi32>) -> tensor<8x4x8x8xf32>
  %oa = arith.mulf %o, %a : tensor<8x4x8x8xf32>
  %l2 = nn.reduce sum "b h s t ->"(%oa) : (tensor<8x4x8x8xf32>) -> tensor<f32>
  %l = arith.addf %l1, %l2 : tensor<f32>
  return %l : tensor<f32>
}
