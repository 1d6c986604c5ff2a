// RUN: dist-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @identity(
// CHECK-SAME: %[[X:.*]]: tensor<8x12xf32>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identity(%x: tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8x12xf32>, tensor<8x12xf32>) {
  %0 = nn.rearrange "a (b c) -> a (b c)"(%x) {b = 4 : i64} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = nn.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 8, 12>, strides = array<i64: 1, 1>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = nn.concat %x {dim = 1 : i64} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %3 = nn.reshape %x : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %0, %1, %2, %3 : tensor<8x12xf32>, tensor<8x12xf32>, tensor<8x12xf32>, tensor<8x12xf32>
}

// A permutation of equal sizes is not the identity.
// CHECK-LABEL: @transpose(
// CHECK-NEXT: %[[Y:.*]] = nn.rearrange
// CHECK-NEXT: return %[[Y]]
func.func @transpose(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.rearrange "a b -> b a"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Heads apart and together again, under other names.
// CHECK-LABEL: @inverse(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x12xf32>
// CHECK-NEXT: return %[[X]]
func.func @inverse(%x: tensor<8x16x12xf32>) -> tensor<8x16x12xf32> {
  %0 = nn.rearrange "b s (h k) -> b h s k"(%x) {h = 4 : i64} : (tensor<8x16x12xf32>) -> tensor<8x4x16x3xf32>
  %1 = nn.rearrange "a h t d -> a t (h d)"(%0) : (tensor<8x4x16x3xf32>) -> tensor<8x16x12xf32>
  return %1 : tensor<8x16x12xf32>
}

// Split in one order, merged in the other.
// CHECK-LABEL: @interleaved(
// CHECK-COUNT-2: nn.rearrange
func.func @interleaved(%x: tensor<16x12xf32>) -> tensor<16x12xf32> {
  %0 = nn.rearrange "s (h k) -> h s k"(%x) {h = 4 : i64} : (tensor<16x12xf32>) -> tensor<4x16x3xf32>
  %1 = nn.rearrange "h t d -> t (d h)"(%0) : (tensor<4x16x3xf32>) -> tensor<16x12xf32>
  return %1 : tensor<16x12xf32>
}

// CHECK-LABEL: @reshape_chain(
// CHECK-SAME: %[[X:.*]]: tensor<8x6xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.reshape %[[X]] : (tensor<8x6xf32>) -> tensor<4x12xf32>
// CHECK-NEXT: return %[[Y]], %[[X]]
func.func @reshape_chain(%x: tensor<8x6xf32>) -> (tensor<4x12xf32>, tensor<8x6xf32>) {
  %0 = nn.reshape %x : (tensor<8x6xf32>) -> tensor<48xf32>
  %1 = nn.reshape %0 : (tensor<48xf32>) -> tensor<4x12xf32>
  %2 = nn.reshape %0 : (tensor<48xf32>) -> tensor<8x6xf32>
  return %1, %2 : tensor<4x12xf32>, tensor<8x6xf32>
}
