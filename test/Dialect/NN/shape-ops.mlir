// RUN: dist-opt %s | dist-opt | FileCheck %s
// RUN: dist-opt %s --mlir-print-op-generic | dist-opt | FileCheck %s
// RUN: dist-opt %s --emit-bytecode | dist-opt | FileCheck %s

// CHECK-LABEL: @slice(
func.func @slice(%x: tensor<8x9xf32>) {
  // CHECK: nn.slice %{{.*}} {limits = array<i64: 8, 9>, starts = array<i64: 0, 4>, strides = array<i64: 1, 2>} : (tensor<8x9xf32>) -> tensor<8x3xf32>
  %0 = nn.slice %x {starts = array<i64: 0, 4>, limits = array<i64: 8, 9>, strides = array<i64: 1, 2>} : (tensor<8x9xf32>) -> tensor<8x3xf32>
  // CHECK: nn.slice %{{.*}} : (tensor<8x9xf32>) -> tensor<0x9xf32>
  %1 = nn.slice %x {starts = array<i64: 3, 0>, limits = array<i64: 3, 9>, strides = array<i64: 1, 1>} : (tensor<8x9xf32>) -> tensor<0x9xf32>
  return
}

// CHECK-LABEL: @pad(
func.func @pad(%x: tensor<8x4xf32>, %i: tensor<3xi32>) {
  // CHECK: nn.pad %{{.*}} {high = array<i64: 0, 2>, low = array<i64: 1, 0>, value = 0.000000e+00 : f32} : (tensor<8x4xf32>) -> tensor<9x6xf32>
  %0 = nn.pad %x {low = array<i64: 1, 0>, high = array<i64: 0, 2>, value = 0.0 : f32} : (tensor<8x4xf32>) -> tensor<9x6xf32>
  // CHECK: nn.pad %{{.*}} {high = array<i64: 0>, interior = array<i64: 2>, low = array<i64: 0>, value = -1 : i32} : (tensor<3xi32>) -> tensor<7xi32>
  %1 = nn.pad %i {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 2>, value = -1 : i32} : (tensor<3xi32>) -> tensor<7xi32>
  return
}

// CHECK-LABEL: @concat(
func.func @concat(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) {
  // CHECK: nn.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  %0 = nn.concat %x, %y {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  return
}

// CHECK-LABEL: @reverse(
func.func @reverse(%x: tensor<8x4xf32>) {
  // CHECK: nn.reverse %{{.*}} {dims = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = nn.reverse %x {dims = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @reshape(
func.func @reshape(%x: tensor<8x6xf32>) {
  // CHECK: nn.reshape %{{.*}} : (tensor<8x6xf32>) -> tensor<4x12xf32>
  %0 = nn.reshape %x : (tensor<8x6xf32>) -> tensor<4x12xf32>
  return
}
