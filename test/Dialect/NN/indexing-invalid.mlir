// RUN: dist-opt %s --split-input-file --verify-diagnostics

// embedding_c1
func.func @embedding_c1(%t: tensor<512x4xf32>, %i: tensor<8x16xi32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8x16x4xf32>', but it is 'tensor<8x4xf32>'}}
  %0 = nn.embedding %t, %i : (tensor<512x4xf32>, tensor<8x16xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_scalar(%t: tensor<f32>, %i: tensor<8xi32>) {
  // expected-error@+1 {{expects a table with rows, but it is 'tensor<f32>'}}
  %0 = nn.embedding %t, %i : (tensor<f32>, tensor<8xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @embedding_float_ids(%t: tensor<512x4xf32>, %i: tensor<8xf32>) {
  // expected-error@+1 {{operand #1 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values}}
  %0 = nn.embedding %t, %i : (tensor<512x4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return
}

// -----

// embedding_grad_c1
func.func @embedding_grad_c1(%i: tensor<8xi32>, %u: tensor<7x4xf32>) {
  // expected-error@+1 {{expects 'updates' to be 'tensor<8x4xf32>', but it is 'tensor<7x4xf32>'}}
  %0 = nn.embedding_grad %i, %u : (tensor<8xi32>, tensor<7x4xf32>) -> tensor<512x4xf32>
  return
}

// -----

// take_c1
func.func @take_c1(%x: tensor<8x4xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{expects 'dim' in [0, 2), but it is -1}}
  %0 = nn.take %x, %i {dim = -1 : i64} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<8x3xf32>
  return
}

// -----

// take_c2
func.func @take_c2(%x: tensor<8x4xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8x3xf32>', but it is 'tensor<3x4xf32>'}}
  %0 = nn.take %x, %i {dim = 1 : i64} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  return
}

// -----

// gather_c1
func.func @gather_c1(%x: tensor<8x4xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{expects indices of rank 2, but they are 'tensor<3xi32>'}}
  %0 = nn.gather %x, %i {dim = 0 : i64} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

// gather_c2
func.func @gather_indices(%x: tensor<8x4xf32>, %i: tensor<7x3xi32>) {
  // expected-error@+1 {{expects 'indices' to be 'tensor<8x3xi32>', but it is 'tensor<7x3xi32>'}}
  %0 = nn.gather %x, %i {dim = 1 : i64} : (tensor<8x4xf32>, tensor<7x3xi32>) -> tensor<7x3xf32>
  return
}

// -----

// gather_c2
func.func @gather_result(%x: tensor<8x4xf32>, %i: tensor<8x3xi32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8x3xf32>', but it is 'tensor<8x4xf32>'}}
  %0 = nn.gather %x, %i {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xi32>) -> tensor<8x4xf32>
  return
}

// -----

// scatter_add_c1
func.func @scatter_add_c1(%x: tensor<8xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>) {
  // expected-error@+1 {{expects 'dim' in [0, 1), but it is 1}}
  %0 = nn.scatter_add %x, %i, %u {dim = 1 : i64} : (tensor<8xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<8xf32>
  return
}

// -----

// scatter_add_c2
func.func @scatter_add_updates(%x: tensor<8x4xf32>, %i: tensor<3xi32>, %u: tensor<3x5xf32>) {
  // expected-error@+1 {{expects 'updates' to be 'tensor<3x4xf32>', but it is 'tensor<3x5xf32>'}}
  %0 = nn.scatter_add %x, %i, %u {dim = 0 : i64} : (tensor<8x4xf32>, tensor<3xi32>, tensor<3x5xf32>) -> tensor<8x4xf32>
  return
}

// -----

// scatter_add_c2
func.func @scatter_add_result(%x: tensor<8x4xf32>, %i: tensor<3xi32>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8x4xf32>', but it is 'tensor<9x4xf32>'}}
  %0 = nn.scatter_add %x, %i, %u {dim = 0 : i64} : (tensor<8x4xf32>, tensor<3xi32>, tensor<3x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

// argmax_c1
func.func @argmax_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8xi32>', but it is 'tensor<4xi32>'}}
  %0 = nn.argmax %x {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<4xi32>
  return
}

// -----

// iota_c1
func.func @iota_c1() {
  // expected-error@+1 {{expects 'dim' in [0, 1), but it is 1}}
  %0 = nn.iota {dim = 1 : i64} : () -> tensor<8xi32>
  return
}
