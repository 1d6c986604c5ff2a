// RUN: dist-opt %s --split-input-file --verify-diagnostics

// softmax_c1
func.func @softmax_c1(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{expects 'dim' in [0, 2), but it is 2}}
  %p = nn.softmax %x {dim = 2 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %p : tensor<8x16xf32>
}

// -----

// log_softmax_c1
func.func @log_softmax_c1(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{expects 'dim' in [0, 2), but it is -1}}
  %p = nn.log_softmax %x {dim = -1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %p : tensor<8x16xf32>
}

// -----

// layer_norm_c1
func.func @layer_norm_c1(%x: tensor<8x64xf32>, %g: tensor<64xf32>, %b: tensor<32xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{expects 'bias' to have the size of the last dimension, 64, but it is 'tensor<32xf32>'}}
  %y = nn.layer_norm %x, %g, %b {eps = 1.0e-5 : f32} : (tensor<8x64xf32>, tensor<64xf32>, tensor<32xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// layer_norm_c1
func.func @layer_norm_c1_scalar(%x: tensor<f32>, %g: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<f32> {
  // expected-error @+1 {{expects an operand with dimensions, but it is 'tensor<f32>'}}
  %y = nn.layer_norm %x, %g, %b {eps = 1.0e-5 : f32} : (tensor<f32>, tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// layer_norm_c2
func.func @layer_norm_c2(%x: tensor<8x64xf32>, %g: tensor<64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{expects 'eps' not to be negative, but it is -1.000000e+00}}
  %y = nn.layer_norm %x, %g, %g {eps = -1.0 : f32} : (tensor<8x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// rms_norm_c1
func.func @rms_norm_c1(%x: tensor<8x64xf32>, %g: tensor<64xf64>) -> tensor<8x64xf32> {
  // expected-error @+1 {{expects 'weight' to have the element type 'f32', but it is 'tensor<64xf64>'}}
  %y = nn.rms_norm %x, %g {eps = 1.0e-5 : f32} : (tensor<8x64xf32>, tensor<64xf64>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// rms_norm_c2
func.func @rms_norm_c2(%x: tensor<8x64xf32>, %g: tensor<64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{expects 'eps' not to be negative, but it is 0x7FC00000}}
  %y = nn.rms_norm %x, %g {eps = 0x7FC00000 : f32} : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// cross_entropy_c1
func.func @cross_entropy_c1(%x: tensor<8x512xf32>, %l: tensor<4xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects 'labels' with the shape of 'logits' without its last dimension, 'tensor<8x512xf32>', but it is 'tensor<4xi32>'}}
  %0 = nn.cross_entropy %x, %l : (tensor<8x512xf32>, tensor<4xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// cross_entropy_c1
func.func @cross_entropy_c1_result(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<f32> {
  // expected-error @+1 {{expects a result with the shape of 'logits' without its last dimension, 'tensor<8x512xf32>', but it is 'tensor<f32>'}}
  %0 = nn.cross_entropy %x, %l : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// cross_entropy_c1
func.func @cross_entropy_c1_element(%x: tensor<8x512xbf16>, %l: tensor<8xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects a result with the element type of 'logits', 'bf16', but it is 'tensor<8xf32>'}}
  %0 = nn.cross_entropy %x, %l : (tensor<8x512xbf16>, tensor<8xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// cross_entropy_c2
func.func @cross_entropy_c2(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects 'label_smoothing' in [0, 1), but it is 1.000000e+00}}
  %0 = nn.cross_entropy %x, %l {label_smoothing = 1.0 : f32} : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// cross_entropy_c2
func.func @cross_entropy_c2_z_loss(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects 'z_loss' not to be negative, but it is -1.000000e+00}}
  %0 = nn.cross_entropy %x, %l {z_loss = -1.0 : f32} : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
