// RUN: dist-opt %s | dist-opt | FileCheck %s
// RUN: dist-opt %s --mlir-print-op-generic | dist-opt | FileCheck %s
// RUN: dist-opt %s --emit-bytecode | dist-opt | FileCheck %s

// CHECK-LABEL: @einsum(
func.func @einsum(%x: tensor<8x16x4xf32>, %w: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // CHECK: nn.einsum "b s d, d e -> b s e"(%{{.*}}, %{{.*}}) : (tensor<8x16x4xf32>, tensor<4x6xf32>) -> tensor<8x16x6xf32>
  %0 = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<8x16x4xf32>, tensor<4x6xf32>) -> tensor<8x16x6xf32>
  // CHECK: nn.einsum "b s d, d e, e -> b 1 s"
  %1 = nn.einsum "b s d,d e,e->b 1 s"(%x, %w, %v) : (tensor<8x16x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x1x16xf32>
  // CHECK: nn.einsum "b s d -> d"(%{{.*}}) {nn.layer = 3 : i64}
  %2 = nn.einsum "b s d -> d"(%x) {nn.layer = 3 : i64} : (tensor<8x16x4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @rearrange(
func.func @rearrange(%x: tensor<8x16x12xf32>, %i: tensor<6xi32>) {
  // CHECK: nn.rearrange "b s (h k) -> b h s k"(%{{.*}}) {h = 4 : i64} : (tensor<8x16x12xf32>) -> tensor<8x4x16x3xf32>
  %0 = nn.rearrange "b s (h k) -> b h s k"(%x) {h = 4 : i64} : (tensor<8x16x12xf32>) -> tensor<8x4x16x3xf32>
  // CHECK: nn.rearrange "a -> a 1"(%{{.*}}) : (tensor<6xi32>) -> tensor<6x1xi32>
  %1 = nn.rearrange "a -> a 1"(%i) : (tensor<6xi32>) -> tensor<6x1xi32>
  return
}

// CHECK-LABEL: @repeat(
func.func @repeat(%g: tensor<4xf32>, %s: tensor<f32>) {
  // CHECK: nn.repeat "d -> b s d"(%{{.*}}) : (tensor<4xf32>) -> tensor<8x16x4xf32>
  %0 = nn.repeat "d -> b s d"(%g) : (tensor<4xf32>) -> tensor<8x16x4xf32>
  // CHECK: nn.repeat "-> b"(%{{.*}}) : (tensor<f32>) -> tensor<8xf32>
  %1 = nn.repeat "-> b"(%s) : (tensor<f32>) -> tensor<8xf32>
  // CHECK: nn.repeat "d -> (d n)"(%{{.*}}) : (tensor<4xf32>) -> tensor<8xf32>
  %2 = nn.repeat "d -> (d n)"(%g) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: @reduce(
func.func @reduce(%x: tensor<8x4x6xf32>, %i: tensor<8x4xi32>) {
  // CHECK: nn.reduce sum "a b c -> a"(%{{.*}}) : (tensor<8x4x6xf32>) -> tensor<8xf32>
  %0 = nn.reduce sum "a b c -> a"(%x) : (tensor<8x4x6xf32>) -> tensor<8xf32>
  // CHECK: nn.reduce max "a b -> b"(%{{.*}}) : (tensor<8x4xi32>) -> tensor<4xi32>
  %1 = nn.reduce max "a b -> b"(%i) : (tensor<8x4xi32>) -> tensor<4xi32>
  // CHECK: nn.reduce min "a b c ->"(%{{.*}}) : (tensor<8x4x6xf32>) -> tensor<f32>
  %2 = nn.reduce min "a b c ->"(%x) : (tensor<8x4x6xf32>) -> tensor<f32>
  // CHECK: nn.reduce mean "a b c -> a 1 c"(%{{.*}}) : (tensor<8x4x6xf32>) -> tensor<8x1x6xf32>
  %3 = nn.reduce mean "a b c -> a 1 c"(%x) : (tensor<8x4x6xf32>) -> tensor<8x1x6xf32>
  return
}
