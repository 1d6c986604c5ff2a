// A table of next tokens, with a weight for each position.
func.func @loss(%tokens: tensor<4x6xi32> {nn.input = "tokens"},
                %targets: tensor<4x6xi32> {nn.input = "targets"},
                %weights: tensor<4x6xf32> {nn.input = "weights"},
                %wte: tensor<16x8xf32> {nn.param = "wte.weight", nn.init = "normal 0.5"},
                %head: tensor<8x16xf32> {nn.param = "head.weight", nn.init = "normal 0.5"}) -> tensor<f32> {
  %x = nn.embedding %wte, %tokens : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %y = nn.einsum "b s d, d v -> b s v"(%x, %head) : (tensor<4x6x8xf32>, tensor<8x16xf32>) -> tensor<4x6x16xf32>
  %c = nn.cross_entropy %y, %targets : (tensor<4x6x16xf32>, tensor<4x6xi32>) -> tensor<4x6xf32>
  %w = arith.mulf %c, %weights : tensor<4x6xf32>
  %l = nn.reduce mean "b s ->"(%w) : (tensor<4x6xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
