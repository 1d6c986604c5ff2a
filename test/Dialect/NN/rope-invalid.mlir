// RUN: dist-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<16x8xf32>, %pos: tensor<16xi32>) -> tensor<16x8xf32> {
  // expected-error @+1 {{expects b h s d or b g r s d, but it is 'tensor<16x8xf32>'}}
  %y = nn.rope %x, %pos {theta = 1.0e4 : f32} : (tensor<16x8xf32>, tensor<16xi32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

// rope_c1
func.func @rope_c1(%x: tensor<2x4x16x8xf32>, %pos: tensor<4x16xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'positions' to have the shape 16 or 2x16, but it is 'tensor<4x16xi32>'}}
  %y = nn.rope %x, %pos {theta = 1.0e4 : f32} : (tensor<2x4x16x8xf32>, tensor<4x16xi32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// -----

// rope_c2
func.func @rope_c2(%x: tensor<2x4x16x8xf32>, %pos: tensor<16xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'dims' to be even, positive and at most 8, but it is 10}}
  %y = nn.rope %x, %pos {theta = 1.0e4 : f32, dims = 10 : i64} : (tensor<2x4x16x8xf32>, tensor<16xi32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// -----

// rope_c2
func.func @rope_c2_default(%x: tensor<2x4x16x7xf32>, %pos: tensor<16xi32>) -> tensor<2x4x16x7xf32> {
  // expected-error @+1 {{expects 'dims' to be even, positive and at most 7, but it is 7}}
  %y = nn.rope %x, %pos {theta = 1.0e4 : f32} : (tensor<2x4x16x7xf32>, tensor<16xi32>) -> tensor<2x4x16x7xf32>
  return %y : tensor<2x4x16x7xf32>
}

// -----

// rope_c3
func.func @rope_c3_none(%x: tensor<2x4x16x8xf32>, %pos: tensor<16xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects either 'theta' or 'freqs', but it has none}}
  %y = nn.rope %x, %pos : (tensor<2x4x16x8xf32>, tensor<16xi32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// -----

// rope_c3
func.func @rope_c3_both(%x: tensor<2x4x16x8xf32>, %pos: tensor<16xi32>, %f: tensor<4xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects either 'theta' or 'freqs', but it has both}}
  %y = nn.rope %x, %pos freqs(%f) {theta = 1.0e4 : f32} : (tensor<2x4x16x8xf32>, tensor<16xi32>, tensor<4xf32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// -----

// rope_c3
func.func @rope_c3_freqs(%x: tensor<2x4x16x8xf32>, %pos: tensor<16xi32>, %f: tensor<8xf32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'freqs' to have the shape 4, but it is 'tensor<8xf32>'}}
  %y = nn.rope %x, %pos freqs(%f) : (tensor<2x4x16x8xf32>, tensor<16xi32>, tensor<8xf32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// -----

// rope_c3
func.func @rope_c3_theta(%x: tensor<2x4x16x8xf32>, %pos: tensor<16xi32>) -> tensor<2x4x16x8xf32> {
  // expected-error @+1 {{expects 'theta' to be positive, but it is 0.000000e+00}}
  %y = nn.rope %x, %pos {theta = 0.0 : f32} : (tensor<2x4x16x8xf32>, tensor<16xi32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}
