// RUN: dist-opt %s --dist-record-amounts | FileCheck %s

// Three products of 2*8*4*4 operations, two of them in calls of one function;
// of two tables that the tokens pick from the smaller one bounds them.
// CHECK: module attributes {dist.flops = 768 : i64, dist.vocab = 12 : i64}
func.func private @layer(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %y = nn.einsum "a b, b c -> a c"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func private @embed(%table: tensor<12x4xf32>, %ids: tensor<8xi32>) -> tensor<8x4xf32> {
  %y = nn.embedding %table, %ids : (tensor<12x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func @step(%tokens: tensor<8xi32> {nn.input = "tokens"},
                %a: tensor<12x4xf32> {nn.param = "a"},
                %b: tensor<30x4xf32> {nn.param = "b"},
                %w: tensor<4x4xf32> {nn.param = "w"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %x = call @embed(%a, %tokens) : (tensor<12x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  %z = nn.embedding %b, %tokens : (tensor<30x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  %y0 = call @layer(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y1 = call @layer(%y0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y2 = nn.einsum "a b, b c -> a c"(%y1, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %y2, %z : tensor<8x4xf32>, tensor<8x4xf32>
}
