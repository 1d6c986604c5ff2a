// RUN: dist-opt %s --dist-test-write-derivatives --split-input-file --verify-diagnostics

func.func @embedding_grad(%i: tensor<8xi32>, %u: tensor<8x4xf32>) {
  // expected-error@+1 {{has no derivative: it is one already}}
  %0 = nn.embedding_grad %i, %u : (tensor<8xi32>, tensor<8x4xf32>) -> tensor<512x4xf32>
  return
}

// -----

func.func @attention_lse(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16xf32> {
  // expected-error@+1 {{is not differentiable in its log-sum-exp}}
  %o, %lse = nn.attention %q, %q, %q {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> (tensor<2x4x16x8xf32>, tensor<2x4x16xf32>)
  return %lse : tensor<2x4x16xf32>
}

// -----

func.func @attention_grad(%q: tensor<2x4x16x8xf32>, %lse: tensor<2x4x16xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error@+1 {{has no derivative}}
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %q {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16xf32>, tensor<2x4x16x8xf32>) -> (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>)
  return %dq : tensor<2x4x16x8xf32>
}
