// RUN: dist-opt %s --split-input-file --verify-diagnostics

// gelu_c1
func.func @gelu_c1(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects 'approximate' to be "none" or "tanh", but it is "erf"}}
  %y = nn.gelu %x {approximate = "erf"} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @other_type(%x: tensor<8xf32>) -> tensor<8xf64> {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %y = nn.silu %x : (tensor<8xf32>) -> tensor<8xf64>
  return %y : tensor<8xf64>
}

// -----

func.func @integers(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<8xi32>'}}
  %y = nn.relu %x : (tensor<8xi32>) -> tensor<8xi32>
  return %y : tensor<8xi32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %y = nn.sigmoid %x : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @unknown_attribute(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has no attribute 'aproximate'}}
  %y = nn.gelu %x {aproximate = "tanh"} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// dropout_c1
func.func @dropout_c1(%x: tensor<8xf32>, %key: tensor<2xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects 'rate' in [0, 1), but it is 1.000000e+00}}
  %y = nn.dropout %x, %key {rate = 1.0 : f32} : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// dropout_c1
func.func @dropout_c1_nan(%x: tensor<8xf32>, %key: tensor<2xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{expects 'rate' in [0, 1), but it is 0x7FC00000}}
  %y = nn.dropout %x, %key {rate = 0x7FC00000 : f32} : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @no_key(%x: tensor<8xf32>, %key: tensor<3xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{operand #1 must be random key (tensor<2xi32>), but got 'tensor<3xi32>'}}
  %y = nn.dropout %x, %key {rate = 0.1 : f32} : (tensor<8xf32>, tensor<3xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// fold_in_c1
func.func @fold_in_c1(%key: tensor<2xi32>) -> tensor<2xi32> {
  // expected-error @+1 {{expects 'data' in [0, 4294967296), but it is -1}}
  %k = nn.fold_in %key {data = -1 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  return %k : tensor<2xi32>
}

// -----

// checked_c1
func.func @checked_c1(%ids: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @+1 {{expects 'bound' to be positive, but it is 0}}
  %y = nn.checked %ids {bound = 0 : i64, what = "take"} : (tensor<8xi32>) -> tensor<8xi32>
  return %y : tensor<8xi32>
}
