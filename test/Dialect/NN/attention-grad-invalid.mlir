// RUN: dist-opt %s --split-input-file --verify-diagnostics

// attention_grad_c1
func.func @attention_grad_c1_lse(%q: tensor<2x4x16x8xf32>, %lse: tensor<2x4xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'lse' to have the shape 2x4x16, but it is 'tensor<2x4xf32>'}}
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %q {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4xf32>, tensor<2x4x16x8xf32>) -> (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>)
  return %dq : tensor<2x4x16x8xf32>
}

// -----

// attention_grad_c1
func.func @attention_grad_c1_dk(%q: tensor<2x4x16x8xf32>, %k: tensor<2x2x16x8xf32>, %lse: tensor<2x4x16xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'dk' to have the shape 2x2x16x8, but it is 'tensor<2x4x16x8xf32>'}}
  %dq, %dk, %dv = nn.attention_grad %q, %k, %k, %q, %lse, %q {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16xf32>, tensor<2x4x16x8xf32>) -> (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>)
  return %dq : tensor<2x4x16x8xf32>
}

// -----

// attention_grad_c1
func.func @attention_grad_c1_dbias(%q: tensor<2x4x16x8xf32>, %lse: tensor<2x4x16xf32>, %bias: tensor<16x16xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 4 results, but it has 3}}
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %q bias(%bias) {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16xf32>, tensor<2x4x16x8xf32>, tensor<16x16xf32>) -> (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>)
  return %dq : tensor<2x4x16x8xf32>
}
