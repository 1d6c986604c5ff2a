// RUN: dist-opt %s --split-input-file --verify-diagnostics

// attention_c1
func.func @attention_c1_rank(%q: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  // expected-error @+1 {{expects 'q' to be b h s d or b g r s d, but it is 'tensor<4x16x8xf32>'}}
  %o = nn.attention %q, %q, %q {scale = 1.0 : f32} : (tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  return %o : tensor<4x16x8xf32>
}

// -----

// attention_c1
func.func @attention_c1_width(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'k' to have the shape 2x4x16x8, but it is 'tensor<2x4x16x4xf32>'}}
  %o = nn.attention %q, %k, %q {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x4xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c1
func.func @attention_c1_heads(%q: tensor<2x4x16x8xf32>, %k: tensor<2x3x16x8xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects the heads of 'k' to divide those of 'q', 4, but there are 3}}
  %o = nn.attention %q, %k, %k {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x3x16x8xf32>, tensor<2x3x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c1
func.func @attention_c1_groups(%q: tensor<2x2x2x16x8xf32>, %k: tensor<2x4x16x8xf32>) -> tensor<2x2x2x16x8xf32> {
  // expected-error @+1 {{expects 'q' with as many groups as 'k', 4, but it is 'tensor<2x2x2x16x8xf32>'}}
  %o = nn.attention %q, %k, %k {scale = 1.0 : f32} : (tensor<2x2x2x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x2x2x16x8xf32>
  return %o : tensor<2x2x2x16x8xf32>
}

// -----

// attention_c1
func.func @attention_c1_result(%q: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'result' to have the shape 2x4x16x4, but it is 'tensor<2x4x16x8xf32>'}}
  %o = nn.attention %q, %q, %v {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c1
func.func @attention_c1_lse(%q: tensor<2x4x16x8xbf16>) -> tensor<2x4x16xbf16> {
  // expected-error @+1 {{expects 'lse' to have the element type 'f32', but it is 'tensor<2x4x16xbf16>'}}
  %o, %lse = nn.attention %q, %q, %q {scale = 1.0 : f32} : (tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>) -> (tensor<2x4x16x8xbf16>, tensor<2x4x16xbf16>)
  return %lse : tensor<2x4x16xbf16>
}

// -----

// attention_c1
func.func @attention_c1_bias(%q: tensor<2x4x16x8xf32>, %bias: tensor<3x1x16xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'bias' to broadcast to 2x4x16x16, but it is 'tensor<3x1x16xf32>'}}
  %o = nn.attention %q, %q, %q bias(%bias) {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<3x1x16xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c1
func.func @attention_c1_segments(%q: tensor<2x4x16x8xf32>, %i: tensor<16xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'segment_ids' to have the shape 2x16, but it is 'tensor<16xi32>'}}
  %o = nn.attention %q, %q, %q segment_ids(%i) {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<16xi32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c2
func.func @attention_c2_window(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'window' to be positive, but it is 0}}
  %o = nn.attention %q, %q, %q {causal, scale = 1.0 : f32, window = 0 : i64} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c2
func.func @attention_c2_causal(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'causal' with 'window'}}
  %o = nn.attention %q, %q, %q {scale = 1.0 : f32, window = 4 : i64} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c2
func.func @attention_c2_softcap(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'softcap' to be positive, but it is 0.000000e+00}}
  %o = nn.attention %q, %q, %q {scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c3
func.func @attention_c3_rate(%q: tensor<2x4x16x8xf32>, %key: tensor<2xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'dropout' in [0, 1), but it is 1.000000e+00}}
  %o = nn.attention %q, %q, %q key(%key) {scale = 1.0 : f32, dropout = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2xi32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c3
func.func @attention_c3_key(%q: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects a key with 'dropout'}}
  %o = nn.attention %q, %q, %q {scale = 1.0 : f32, dropout = 0.1 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// attention_c4
func.func @attention_c4(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x32x8xf32>, %i: tensor<2x16xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'segment_ids' where queries and keys have the same length, but there are 16 queries and 32 keys}}
  %o = nn.attention %q, %k, %k segment_ids(%i) {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x32x8xf32>, tensor<2x4x32x8xf32>, tensor<2x16xi32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}
