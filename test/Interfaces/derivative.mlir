// RUN: dist-opt %s --dist-test-write-derivatives --canonicalize | FileCheck %s

// CHECK-LABEL: @einsum(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x4xf32>, %[[W:.*]]: tensor<4x6xf32>, %[[DY:.*]]: tensor<8x16x6xf32>)
// CHECK-NEXT: %[[DX:.*]] = nn.einsum "b s e, d e -> b s d"(%[[DY]], %[[W]])
// CHECK-NEXT: %[[DW:.*]] = nn.einsum "b s e, b s d -> d e"(%[[DY]], %[[X]])
// CHECK-NEXT: return %[[DX]], %[[DW]]
func.func @einsum(%x: tensor<8x16x4xf32>, %w: tensor<4x6xf32>) {
  %0 = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<8x16x4xf32>, tensor<4x6xf32>) -> tensor<8x16x6xf32>
  return
}

// Names of one operand alone are summed: their cotangent is repeated.
// CHECK-LABEL: @einsum_sums(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<f32>)
// CHECK-NEXT: %[[D:.*]] = nn.einsum ", d -> 1 d"(%[[DY]], %[[W]]) : (tensor<f32>, tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[DX:.*]] = nn.repeat "1 d -> b d"(%[[D]]) : (tensor<1x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[DW:.*]] = nn.einsum ", b d -> d"(%[[DY]], %[[X]])
// CHECK-NEXT: return %[[DX]], %[[DW]]
func.func @einsum_sums(%x: tensor<8x4xf32>, %w: tensor<4xf32>) {
  %0 = nn.einsum "b d, d ->"(%x, %w) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @einsum_one(
// CHECK: %[[D:.*]] = nn.rearrange "s b -> b s"(%{{.*}}) : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[D]]
func.func @einsum_one(%x: tensor<8x4xf32>) {
  %0 = nn.einsum "b s -> s b"(%x) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// The sizes of a group's names travel with it.
// CHECK-LABEL: @rearrange(
// CHECK: nn.rearrange "b h s k -> b s (h k)"(%{{.*}}) {h = 4 : i64, k = 3 : i64} : (tensor<8x4x16x3xf32>) -> tensor<8x16x12xf32>
func.func @rearrange(%x: tensor<8x16x12xf32>) {
  %0 = nn.rearrange "b s (h k) -> b h s k"(%x) {h = 4 : i64} : (tensor<8x16x12xf32>) -> tensor<8x4x16x3xf32>
  return
}

// CHECK-LABEL: @repeat(
// CHECK: nn.reduce sum "b s d -> d"(%{{.*}}) : (tensor<8x16x4xf32>) -> tensor<4xf32>
func.func @repeat(%x: tensor<4xf32>) {
  %0 = nn.repeat "d -> b s d"(%x) : (tensor<4xf32>) -> tensor<8x16x4xf32>
  return
}

// CHECK-LABEL: @reduce_sum(
// CHECK: nn.repeat "b -> b s"(%{{.*}}) : (tensor<8xf32>) -> tensor<8x16xf32>
func.func @reduce_sum(%x: tensor<8x16xf32>) {
  %0 = nn.reduce sum "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: @reduce_mean(
// CHECK-DAG: %[[N:.*]] = arith.constant dense<1.600000e+01> : tensor<8xf32>
// CHECK: %[[D:.*]] = arith.divf %{{.*}}, %[[N]]
// CHECK: nn.repeat "b -> b s"(%[[D]])
func.func @reduce_mean(%x: tensor<8x16xf32>) {
  %0 = nn.reduce mean "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// Ties share.
// CHECK-LABEL: @reduce_max(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[DY:.*]]: tensor<8xf32>)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<8x16xf32>
// CHECK: %[[Y:.*]] = nn.reduce max "b s -> b"(%[[X]])
// CHECK: %[[YY:.*]] = nn.repeat "b -> b s"(%[[Y]])
// CHECK: %[[TIE:.*]] = arith.cmpf oeq, %[[X]], %[[YY]]
// CHECK: %[[MASK:.*]] = arith.select %[[TIE]], %[[ONE]], %[[ZERO]]
// CHECK: %[[N:.*]] = nn.reduce sum "b s -> b"(%[[MASK]])
// CHECK: %[[SHARE:.*]] = arith.divf %[[DY]], %[[N]]
// CHECK: %[[D:.*]] = nn.repeat "b -> b s"(%[[SHARE]])
// CHECK: %[[DX:.*]] = arith.select %[[TIE]], %[[D]], %[[ZERO]]
// CHECK: return %[[DX]]
func.func @reduce_max(%x: tensor<8x16xf32>) {
  %0 = nn.reduce max "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: @slice(
// CHECK: nn.pad %{{.*}} {high = array<i64: 0, 1>, interior = array<i64: 0, 1>, low = array<i64: 2, 1>, value = 0.000000e+00 : f32} : (tensor<6x3xf32>) -> tensor<8x7xf32>
func.func @slice(%x: tensor<8x7xf32>) {
  %0 = nn.slice %x {starts = array<i64: 2, 1>, limits = array<i64: 8, 7>, strides = array<i64: 1, 2>} : (tensor<8x7xf32>) -> tensor<6x3xf32>
  return
}

// CHECK-LABEL: @slice_empty(
// CHECK: nn.pad %{{.*}} {high = array<i64: 5>, low = array<i64: 3>, value = 0.000000e+00 : f32} : (tensor<0xf32>) -> tensor<8xf32>
func.func @slice_empty(%x: tensor<8xf32>) {
  %0 = nn.slice %x {starts = array<i64: 3>, limits = array<i64: 3>, strides = array<i64: 2>} : (tensor<8xf32>) -> tensor<0xf32>
  return
}

// CHECK-LABEL: @pad(
// CHECK: nn.slice %{{.*}} {limits = array<i64: 8>, starts = array<i64: 1>, strides = array<i64: 3>} : (tensor<10xf32>) -> tensor<3xf32>
func.func @pad(%x: tensor<3xf32>) {
  %0 = nn.pad %x {low = array<i64: 1>, high = array<i64: 2>, interior = array<i64: 2>, value = 0.0 : f32} : (tensor<3xf32>) -> tensor<10xf32>
  return
}

// CHECK-LABEL: @concat(
// CHECK: nn.slice %{{.*}} {limits = array<i64: 8, 4>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<8x6xf32>) -> tensor<8x4xf32>
// CHECK: nn.slice %{{.*}} {limits = array<i64: 8, 6>, starts = array<i64: 0, 4>, strides = array<i64: 1, 1>} : (tensor<8x6xf32>) -> tensor<8x2xf32>
func.func @concat(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) {
  %0 = nn.concat %x, %y {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  return
}

// CHECK-LABEL: @reverse(
// CHECK: nn.reverse %{{.*}} {dims = array<i64: 1>}
func.func @reverse(%x: tensor<8x4xf32>) {
  %0 = nn.reverse %x {dims = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @reshape(
// CHECK: nn.reshape %{{.*}} : (tensor<4x12xf32>) -> tensor<8x6xf32>
func.func @reshape(%x: tensor<8x6xf32>) {
  %0 = nn.reshape %x : (tensor<8x6xf32>) -> tensor<4x12xf32>
  return
}

// CHECK-LABEL: @embedding(
// CHECK-SAME: %{{.*}}: tensor<512x4xf32>, %[[I:.*]]: tensor<8xi32>, %[[DY:.*]]: tensor<8x4xf32>) -> tensor<512x4xf32>
// CHECK: nn.embedding_grad %[[I]], %[[DY]]
func.func @embedding(%t: tensor<512x4xf32>, %i: tensor<8xi32>) {
  %0 = nn.embedding %t, %i : (tensor<512x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @take(
// CHECK-SAME: %{{.*}}: tensor<8x4xf32>, %[[I:.*]]: tensor<3xi32>, %[[DY:.*]]: tensor<8x3xf32>) -> tensor<8x4xf32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
// CHECK: nn.scatter_add %[[ZERO]], %[[I]], %[[DY]] {dim = 1 : i64}
func.func @take(%x: tensor<8x4xf32>, %i: tensor<3xi32>) {
  %0 = nn.take %x, %i {dim = 1 : i64} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<8x3xf32>
  return
}

// CHECK-LABEL: @gather(
// CHECK: nn.scatter_add %{{.*}} {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xi32>, tensor<8x3xf32>) -> tensor<8x4xf32>
func.func @gather(%x: tensor<8x4xf32>, %i: tensor<8x3xi32>) {
  %0 = nn.gather %x, %i {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xi32>) -> tensor<8x3xf32>
  return
}

// CHECK-LABEL: @scatter_take(
// CHECK-SAME: %{{.*}}: tensor<8x4xf32>, %[[I:.*]]: tensor<3xi32>, %{{.*}}: tensor<3x4xf32>, %[[DY:.*]]: tensor<8x4xf32>)
// CHECK-NEXT: %[[DU:.*]] = nn.take %[[DY]], %[[I]] {dim = 0 : i64}
// CHECK-NEXT: return %[[DY]], %[[DU]]
func.func @scatter_take(%x: tensor<8x4xf32>, %i: tensor<3xi32>, %u: tensor<3x4xf32>) {
  %0 = nn.scatter_add %x, %i, %u {dim = 0 : i64} : (tensor<8x4xf32>, tensor<3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @scatter_gather(
// CHECK: nn.gather %{{.*}} {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xi32>) -> tensor<8x3xf32>
func.func @scatter_gather(%x: tensor<8x4xf32>, %i: tensor<8x3xi32>, %u: tensor<8x3xf32>) {
  %0 = nn.scatter_add %x, %i, %u {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xi32>, tensor<8x3xf32>) -> tensor<8x4xf32>
  return
}

// Indices have no derivative.
// CHECK-LABEL: @argmax(
// CHECK-NEXT: return{{$}}
func.func @argmax(%x: tensor<8x4xf32>) {
  %0 = nn.argmax %x {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<8xi32>
  return
}
