// RUN: dist-opt %s | dist-opt | FileCheck %s
// RUN: dist-opt %s --mlir-print-op-generic | dist-opt | FileCheck %s
// RUN: dist-opt %s --emit-bytecode | dist-opt | FileCheck %s

// CHECK-LABEL: @embedding(
func.func @embedding(%t: tensor<512x4x16xf32>, %i: tensor<8x16xi32>, %d: tensor<8x16x4x16xf32>) {
  // CHECK: nn.embedding %{{.*}}, %{{.*}} : (tensor<512x4x16xf32>, tensor<8x16xi32>) -> tensor<8x16x4x16xf32>
  %0 = nn.embedding %t, %i : (tensor<512x4x16xf32>, tensor<8x16xi32>) -> tensor<8x16x4x16xf32>
  // CHECK: nn.embedding_grad %{{.*}}, %{{.*}} : (tensor<8x16xi32>, tensor<8x16x4x16xf32>) -> tensor<512x4x16xf32>
  %1 = nn.embedding_grad %i, %d : (tensor<8x16xi32>, tensor<8x16x4x16xf32>) -> tensor<512x4x16xf32>
  return
}

// CHECK-LABEL: @take(
func.func @take(%x: tensor<8x16x4xi32>, %i: tensor<2x3xi64>, %s: tensor<i32>) {
  // CHECK: nn.take %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<8x16x4xi32>, tensor<2x3xi64>) -> tensor<8x2x3x4xi32>
  %0 = nn.take %x, %i {dim = 1 : i64} : (tensor<8x16x4xi32>, tensor<2x3xi64>) -> tensor<8x2x3x4xi32>
  // CHECK: nn.take %{{.*}}, %{{.*}} {dim = 2 : i64} : (tensor<8x16x4xi32>, tensor<i32>) -> tensor<8x16xi32>
  %1 = nn.take %x, %s {dim = 2 : i64} : (tensor<8x16x4xi32>, tensor<i32>) -> tensor<8x16xi32>
  return
}

// CHECK-LABEL: @gather(
func.func @gather(%x: tensor<8x16xf32>, %i: tensor<8x3xi32>) {
  // CHECK: nn.gather %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<8x16xf32>, tensor<8x3xi32>) -> tensor<8x3xf32>
  %0 = nn.gather %x, %i {dim = 1 : i64} : (tensor<8x16xf32>, tensor<8x3xi32>) -> tensor<8x3xf32>
  return
}

// CHECK-LABEL: @scatter_add(
func.func @scatter_add(%x: tensor<16x4xf32>, %i: tensor<3xi32>, %u: tensor<3x4xf32>,
                       %j: tensor<16x2xi32>, %v: tensor<16x2xf32>) {
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<16x4xf32>, tensor<3xi32>, tensor<3x4xf32>) -> tensor<16x4xf32>
  %0 = nn.scatter_add %x, %i, %u {dim = 0 : i64} : (tensor<16x4xf32>, tensor<3xi32>, tensor<3x4xf32>) -> tensor<16x4xf32>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<16x4xf32>, tensor<16x2xi32>, tensor<16x2xf32>) -> tensor<16x4xf32>
  %1 = nn.scatter_add %x, %j, %v {dim = 1 : i64} : (tensor<16x4xf32>, tensor<16x2xi32>, tensor<16x2xf32>) -> tensor<16x4xf32>
  return
}

// CHECK-LABEL: @indices(
func.func @indices(%x: tensor<8x16xf32>) {
  // CHECK: nn.argmax %{{.*}} {dim = 0 : i64} : (tensor<8x16xf32>) -> tensor<16xi32>
  %0 = nn.argmax %x {dim = 0 : i64} : (tensor<8x16xf32>) -> tensor<16xi32>
  // CHECK: nn.iota {dim = 1 : i64} : () -> tensor<4x128xi32>
  %1 = nn.iota {dim = 1 : i64} : () -> tensor<4x128xi32>
  return
}
