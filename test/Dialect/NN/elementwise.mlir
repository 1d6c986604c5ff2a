// RUN: dist-opt %s | dist-opt | FileCheck %s
// RUN: dist-opt %s --mlir-print-op-generic | dist-opt | FileCheck %s
// RUN: dist-opt %s --emit-bytecode | dist-opt | FileCheck %s

// CHECK-LABEL: @activations
func.func @activations(%x: tensor<8x64xbf16>) -> tensor<8x64xbf16> {
  // CHECK: nn.gelu %{{.*}} : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %0 = nn.gelu %x : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  // CHECK: nn.gelu %{{.*}} {approximate = "tanh"} :
  %1 = nn.gelu %0 {approximate = "tanh"} : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  // CHECK: nn.silu %{{.*}} : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %2 = nn.silu %1 : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  // CHECK: nn.relu %{{.*}} : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %3 = nn.relu %2 : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  // CHECK: nn.sigmoid %{{.*}} : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %4 = nn.sigmoid %3 : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
  return %4 : tensor<8x64xbf16>
}

// CHECK-LABEL: @scalar
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: nn.stop_gradient %{{.*}} : (tensor<f32>) -> tensor<f32>
  %y = nn.stop_gradient %x : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<8x64xf32>, %key: tensor<2xi32>) -> tensor<8x64xf32> {
  // CHECK: nn.fold_in %{{.*}} {data = 4294967295 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %k = nn.fold_in %key {data = 4294967295 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  // CHECK: nn.dropout %{{.*}}, %{{.*}} {nn.layer = 2 : i64, rate = 1.000000e-01 : f32} :
  // CHECK-SAME: (tensor<8x64xf32>, tensor<2xi32>) -> tensor<8x64xf32>
  %y = nn.dropout %x, %k {rate = 0.1 : f32, nn.layer = 2 : i64} : (tensor<8x64xf32>, tensor<2xi32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// CHECK-LABEL: @checked
func.func @checked(%ids: tensor<8x16xi64>) -> tensor<8x16xi64> {
  // CHECK: nn.checked %{{.*}} {bound = 512 : i64, ignore_index = -100 : i64, what = "cross_entropy"} :
  %y = nn.checked %ids {bound = 512 : i64, what = "cross_entropy", ignore_index = -100 : i64} : (tensor<8x16xi64>) -> tensor<8x16xi64>
  return %y : tensor<8x16xi64>
}
