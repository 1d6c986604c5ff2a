// RUN: dist-opt %s --split-input-file --verify-diagnostics

// pattern: no arrow
func.func @pattern_arrow(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{pattern "a b" lacks '->'}}
  %0 = nn.rearrange "a b"(%x) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pattern_behind(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{pattern "a b -> b a, c" has ', c' behind its result}}
  %0 = nn.rearrange "a b -> b a, c"(%x) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pattern_group(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{pattern "(a b -> b a" lacks ')'}}
  %0 = nn.rearrange "(a b -> b a"(%x) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pattern_name(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{pattern "a * -> a" expects a name at '* -> a'}}
  %0 = nn.rearrange "a * -> a"(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

// pattern_c1
func.func @pattern_c1(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{pattern "a a -> a" names 'a' twice in one term}}
  %0 = nn.einsum "a a -> a"(%x) : (tensor<8x8xf32>) -> tensor<8xf32>
  return
}

// -----

// pattern_c3
func.func @pattern_c3(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{pattern "a kind -> a" names 'kind', which is an attribute of its own}}
  %0 = nn.reduce sum "a kind -> a"(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

// einsum_c1
func.func @einsum_terms(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{pattern has 2 operand terms, but there are 1 operands}}
  %0 = nn.einsum "a b, b c -> a c"(%x) : (tensor<8x4xf32>) -> tensor<8x8xf32>
  return
}

// -----

// einsum_c1
func.func @einsum_rank(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{term 'a b c' has 3 dimensions, but the tensor is 'tensor<8x4xf32>'}}
  %0 = nn.einsum "a b c -> a"(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

// einsum_c1
func.func @einsum_new_name(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects the names of 'a c' in an operand, which lacks 'c'}}
  %0 = nn.einsum "a b -> a c"(%x) : (tensor<8x4xf32>) -> tensor<8x3xf32>
  return
}

// -----

// einsum_c2
func.func @einsum_c2(%x: tensor<8x4xf32>, %w: tensor<5x6xf32>) {
  // expected-error@+1 {{dimension 'd' has size 5, but its names give 4}}
  %0 = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x4xf32>, tensor<5x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

// einsum_c3
func.func @einsum_c3(%x: tensor<8x4xf32>, %w: tensor<4x6xbf16>) {
  // expected-error@+1 {{expects operands of 'f32', as its result, but one is 'tensor<4x6xbf16>'}}
  %0 = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x4xf32>, tensor<4x6xbf16>) -> tensor<8x6xf32>
  return
}

// -----

func.func @einsum_unknown_attribute(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{has no attribute 'precision'}}
  %0 = nn.einsum "b d -> b"(%x) {precision = "f64"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @size_not_positive(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects the size 'a' to be a positive integer, but it is 0 : i64}}
  %0 = nn.rearrange "(a b) c -> a b c"(%x) {a = 0 : i64} : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

// rearrange_c1
func.func @rearrange_lost(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects the names of 'a b' in the result, which lacks 'b'}}
  %0 = nn.rearrange "a b -> a"(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

// rearrange_c1
func.func @rearrange_new(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects the names of 'a b c' in the operand, which lacks 'c'}}
  %0 = nn.rearrange "a b -> a b c"(%x) : (tensor<8x4xf32>) -> tensor<8x4x2xf32>
  return
}

// -----

// rearrange_c2
func.func @rearrange_divides(%x: tensor<8x10xf32>) {
  // expected-error@+1 {{dimension '(h k)' of size 10 does not divide by 4}}
  %0 = nn.rearrange "s (h k) -> h s k"(%x) {h = 4 : i64} : (tensor<8x10xf32>) -> tensor<4x8x2xf32>
  return
}

// -----

// rearrange_c2
func.func @rearrange_open(%x: tensor<8x12xf32>) {
  // expected-error@+1 {{cannot infer the size of 'h'; give it as an attribute}}
  %0 = nn.rearrange "s (h k) -> (h s k)"(%x) : (tensor<8x12xf32>) -> tensor<96xf32>
  return
}

// -----

// rearrange_c3
func.func @rearrange_c3(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects operands of 'f16', as its result, but one is 'tensor<8x4xf32>'}}
  %0 = nn.rearrange "a b -> b a"(%x) : (tensor<8x4xf32>) -> tensor<4x8xf16>
  return
}

// -----

// repeat_c1
func.func @repeat_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects the names of 'a b' in the result, which lacks 'b'}}
  %0 = nn.repeat "a b -> a c"(%x) : (tensor<8x4xf32>) -> tensor<8x3xf32>
  return
}

// -----

// repeat_c2
func.func @repeat_c2(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 'd' has size 9, but its names give 8}}
  %0 = nn.repeat "d -> b d"(%x) : (tensor<8xf32>) -> tensor<2x9xf32>
  return
}

// -----

// repeat_c3
func.func @repeat_c3(%x: tensor<8xi32>) {
  // expected-error@+1 {{expects operands of 'i64', as its result, but one is 'tensor<8xi32>'}}
  %0 = nn.repeat "d -> b d"(%x) : (tensor<8xi32>) -> tensor<2x8xi64>
  return
}

// -----

// reduce_c1
func.func @reduce_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects the names of 'a c' in the operand, which lacks 'c'}}
  %0 = nn.reduce sum "a b -> a c"(%x) : (tensor<8x4xf32>) -> tensor<8x2xf32>
  return
}

// -----

// reduce_c2
func.func @reduce_c2(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{dimension 'a' has size 4, but its names give 8}}
  %0 = nn.reduce sum "a b -> a"(%x) : (tensor<8x4xf32>) -> tensor<4xf32>
  return
}

// -----

// reduce_c3
func.func @reduce_c3(%x: tensor<8x4xi32>) {
  // expected-error@+1 {{expects floats for a mean, but the operand is 'tensor<8x4xi32>'}}
  %0 = nn.reduce mean "a b -> a"(%x) : (tensor<8x4xi32>) -> tensor<8xi32>
  return
}
