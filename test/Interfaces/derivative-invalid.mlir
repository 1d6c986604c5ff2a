// RUN: dist-opt %s --dist-test-write-derivatives --verify-diagnostics

func.func @embedding_grad(%i: tensor<8xi32>, %u: tensor<8x4xf32>) {
  // expected-error@+1 {{has no derivative: it is one already}}
  %0 = nn.embedding_grad %i, %u : (tensor<8xi32>, tensor<8x4xf32>) -> tensor<512x4xf32>
  return
}
