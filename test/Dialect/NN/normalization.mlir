// RUN: dist-opt %s | dist-opt | FileCheck %s
// RUN: dist-opt %s --mlir-print-op-generic | dist-opt | FileCheck %s
// RUN: dist-opt %s --emit-bytecode | dist-opt | FileCheck %s

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<8x4x16xf32>) -> tensor<8x4x16xf32> {
  // CHECK: nn.softmax %{{.*}} {dim = 2 : i64} : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %0 = nn.softmax %x {dim = 2 : i64} : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  // CHECK: nn.log_softmax %{{.*}} {dim = 0 : i64} : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %1 = nn.log_softmax %0 {dim = 0 : i64} : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return %1 : tensor<8x4x16xf32>
}

// CHECK-LABEL: @norms
func.func @norms(%x: tensor<8x16x64xf16>, %g: tensor<64xf16>, %b: tensor<64xf16>) -> tensor<8x16x64xf16> {
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 9.99999974E-6 : f32} :
  // CHECK-SAME: (tensor<8x16x64xf16>, tensor<64xf16>, tensor<64xf16>) -> tensor<8x16x64xf16>
  %0 = nn.layer_norm %x, %g, %b {eps = 1.0e-5 : f32} : (tensor<8x16x64xf16>, tensor<64xf16>, tensor<64xf16>) -> tensor<8x16x64xf16>
  // CHECK: nn.rms_norm %{{.*}}, %{{.*}} {eps = 0.000000e+00 : f32} :
  // CHECK-SAME: (tensor<8x16x64xf16>, tensor<64xf16>) -> tensor<8x16x64xf16>
  %1 = nn.rms_norm %0, %g {eps = 0.0 : f32} : (tensor<8x16x64xf16>, tensor<64xf16>) -> tensor<8x16x64xf16>
  return %1 : tensor<8x16x64xf16>
}

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%x: tensor<8x16x512xf32>, %l: tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} : (tensor<8x16x512xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
  %0 = nn.cross_entropy %x, %l : (tensor<8x16x512xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} {ignore_index = -100 : i64, label_smoothing = 1.000000e-01 : f32, z_loss = 9.99999974E-5 : f32} :
  %1 = nn.cross_entropy %x, %l {ignore_index = -100 : i64, label_smoothing = 0.1 : f32, z_loss = 1.0e-4 : f32} : (tensor<8x16x512xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @one_row
func.func @one_row(%x: tensor<512xf64>, %l: tensor<i64>) -> tensor<f64> {
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} : (tensor<512xf64>, tensor<i64>) -> tensor<f64>
  %0 = nn.cross_entropy %x, %l : (tensor<512xf64>, tensor<i64>) -> tensor<f64>
  return %0 : tensor<f64>
}
