// RUN: dist-interp %s --entry moves --print | FileCheck %s --check-prefix=MOVES
// RUN: dist-interp %s --entry einsum --print | FileCheck %s --check-prefix=EINSUM
// RUN: dist-interp %s --entry accumulation --print | FileCheck %s --check-prefix=ACC
// RUN: dist-interp %s --entry accumulation --f64 --print | FileCheck %s --check-prefix=ACC64
// RUN: dist-interp %s --entry reduce --print | FileCheck %s --check-prefix=REDUCE

// MOVES: result0 = {{\[\[}}[0, 2], [4, 6]], {{\[\[}}1, 3], [5, 7]]]
// MOVES-NEXT: result1 = {{\[\[}}0, 4, 1, 5], [2, 6, 3, 7]]
// MOVES-NEXT: result2 = {{\[\[}}1, 1, 1], [2, 2, 2]]
func.func @moves() -> (tensor<2x2x2xi32>, tensor<2x4xi32>, tensor<2x3xi32>) {
  %x = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  %0 = nn.rearrange "a (b c) -> c a b"(%x) {c = 2 : i64} : (tensor<2x4xi32>) -> tensor<2x2x2xi32>
  %1 = nn.rearrange "a (b c) -> b (c a)"(%x) {c = 2 : i64} : (tensor<2x4xi32>) -> tensor<2x4xi32>
  %y = arith.constant dense<[1, 2]> : tensor<2xi32>
  %2 = nn.repeat "a -> a b"(%y) : (tensor<2xi32>) -> tensor<2x3xi32>
  return %0, %1, %2 : tensor<2x2x2xi32>, tensor<2x4xi32>, tensor<2x3xi32>
}

// EINSUM: result0 = {{\[\[}}1, 2], [3, 6]]
// EINSUM-NEXT: result1 = 36
// EINSUM-NEXT: result2 = [3, 21]
func.func @einsum() -> (tensor<2x2xf32>, tensor<f32>, tensor<2xf32>) {
  %x = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %y = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = nn.einsum "a, b -> a b"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = nn.einsum "a, b, c ->"(%x, %y, %y) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  %2 = nn.einsum "a, a b -> a"(%x, %z) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<f32>, tensor<2xf32>
}

// Each addition is rounded to f32.
// ACC: loss = 0
// ACC-NEXT: result1 = 0
// ACC64: loss = 2
// ACC64-NEXT: result1 = 2
func.func @accumulation() -> (tensor<f32>, tensor<f32>) {
  %x = arith.constant dense<[16777216.0, 1.0, 1.0]> : tensor<3xf32>
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %0 = nn.einsum "a, a ->"(%x, %one) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %1 = nn.reduce sum "a ->"(%x) : (tensor<3xf32>) -> tensor<f32>
  %big = arith.constant dense<16777216.0> : tensor<f32>
  %2 = arith.subf %0, %big : tensor<f32>
  %3 = arith.subf %1, %big : tensor<f32>
  return %2, %3 : tensor<f32>, tensor<f32>
}

// REDUCE: result0 = [6, 15]
// REDUCE-NEXT: result1 = [4, 5, 6]
// REDUCE-NEXT: result2 = 1
// REDUCE-NEXT: result3 = [2.5, 3.5, 4.5]
func.func @reduce() -> (tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %i = arith.constant dense<[3, 1, 2]> : tensor<3xi32>
  %0 = nn.reduce sum "a b -> a"(%x) : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = nn.reduce max "a b -> b"(%x) : (tensor<2x3xf32>) -> tensor<3xf32>
  %2 = nn.reduce min "a ->"(%i) : (tensor<3xi32>) -> tensor<i32>
  %3 = nn.reduce mean "a b -> b"(%x) : (tensor<2x3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>
}
