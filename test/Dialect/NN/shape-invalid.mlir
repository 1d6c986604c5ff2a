// RUN: dist-opt %s --split-input-file --verify-diagnostics

// slice_c1
func.func @slice_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects 'starts' to have 2 entries, but it has 1}}
  %0 = nn.slice %x {starts = array<i64: 0>, limits = array<i64: 8, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// slice_c2
func.func @slice_limit(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects 0 <= start <= limit <= 4 in dimension 1, but they are 0 and 5}}
  %0 = nn.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 8, 5>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x5xf32>
  return
}

// -----

// slice_c2
func.func @slice_start(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects 0 <= start <= limit <= 8 in dimension 0, but they are 5 and 3}}
  %0 = nn.slice %x {starts = array<i64: 5, 0>, limits = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// slice_c2
func.func @slice_stride(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects a stride of at least 1 in dimension 1, but it is 0}}
  %0 = nn.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 8, 4>, strides = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// slice_c3
func.func @slice_c3(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects its result to be 'tensor<3x4xf32>', but it is 'tensor<4x4xf32>'}}
  %0 = nn.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 8, 4>, strides = array<i64: 3, 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// pad_c1
func.func @pad_length(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects 'interior' to have 2 entries, but it has 1}}
  %0 = nn.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 0>, interior = array<i64: 0>, value = 0.0 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// pad_c1
func.func @pad_negative(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects no negative padding, but dimension 1 has low -1, high 0, interior 0}}
  %0 = nn.pad %x {low = array<i64: 0, -1>, high = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<8x4xf32>) -> tensor<8x3xf32>
  return
}

// -----

// pad_c2
func.func @pad_c2(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects 'value' to be a 'f32', but it is 0 : i32}}
  %0 = nn.pad %x {low = array<i64: 0>, high = array<i64: 1>, value = 0 : i32} : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

// pad_c3
func.func @pad_c3(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects its result to be 'tensor<9xf32>', but it is 'tensor<8xf32>'}}
  %0 = nn.pad %x {low = array<i64: 0>, high = array<i64: 1>, value = 0.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// concat_c1
func.func @concat_empty() {
  // expected-error@+1 {{expects an operand, but has none}}
  %0 = "nn.concat"() <{dim = 0 : i64}> : () -> tensor<0xf32>
  return
}

// -----

// concat_c1
func.func @concat_dim(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects 'dim' in [0, 1), but it is 1}}
  %0 = nn.concat %x {dim = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// concat_c2
func.func @concat_operand(%x: tensor<8x4xf32>, %y: tensor<7x2xf32>) {
  // expected-error@+1 {{expects operand #1 to be 'tensor<8x2xf32>', but it is 'tensor<7x2xf32>'}}
  %0 = nn.concat %x, %y {dim = 1 : i64} : (tensor<8x4xf32>, tensor<7x2xf32>) -> tensor<8x6xf32>
  return
}

// -----

// concat_c2
func.func @concat_result(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8x6xf32>', but it is 'tensor<8x7xf32>'}}
  %0 = nn.concat %x, %y {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x7xf32>
  return
}

// -----

// reverse_c1
func.func @reverse_twice(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects 'dims' to be distinct dimensions of 'tensor<8x4xf32>', but one is 1}}
  %0 = nn.reverse %x {dims = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// reverse_c2
func.func @reverse_c2(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects its result to be 'tensor<8x4xf32>', but it is 'tensor<4x8xf32>'}}
  %0 = nn.reverse %x {dims = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

// reshape_c1
func.func @reshape_c1(%x: tensor<8x6xf32>) {
  // expected-error@+1 {{expects as many elements of the same type in its result as in 'tensor<8x6xf32>', but it is 'tensor<7x7xf32>'}}
  %0 = nn.reshape %x : (tensor<8x6xf32>) -> tensor<7x7xf32>
  return
}
