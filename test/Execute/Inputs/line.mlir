// A line through points; `offset` is frozen, the loss reaches neither `idle`
// nor `still`, and `still` and `bias` do not decay.
func.func @loss(%x: tensor<8x4xf32> {nn.input = "x"},
                %y: tensor<8xf32> {nn.input = "y"},
                %w: tensor<4xf32> {nn.param = "w", nn.init = "normal 0.5"},
                %bias: tensor<f32> {nn.param = "bias", nn.init = "ones", nn.no_decay},
                %offset: tensor<4xf32> {nn.param = "offset", nn.init = "normal 0.1", nn.frozen},
                %idle: tensor<4x6xf32> {nn.param = "idle", nn.init = "normal 1.0"},
                %still: tensor<6xf32> {nn.param = "still", nn.init = "normal 1.0", nn.no_decay}) -> tensor<f32> {
  %v = arith.addf %w, %offset : tensor<4xf32>
  %p = nn.einsum "b d, d -> b"(%x, %v) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %c = nn.repeat "-> b"(%bias) : (tensor<f32>) -> tensor<8xf32>
  %q = arith.addf %p, %c : tensor<8xf32>
  %d = arith.subf %q, %y : tensor<8xf32>
  %s = arith.mulf %d, %d : tensor<8xf32>
  %l = nn.reduce mean "b ->"(%s) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
