// RUN: dist-opt %s --dist-widen-floats | FileCheck %s
// RUN: dist-opt %s --dist-to-step="precision=f64" | FileCheck %s --check-prefix=STEP
// RUN: dist-interp %s --entry loss --f64 --print > %t.written
// RUN: dist-opt %s --dist-widen-floats | dist-interp - --entry loss --print | diff - %t.written

// Casts are the identity, constants keep the value that was written (f32 0.1),
// options of an op their type, integers theirs.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf64>, %[[G:.*]]: tensor<8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT: %[[N:.*]] = nn.rms_norm %[[X]], %[[G]] {eps = 9.99999974E-6 : f32} : (tensor<4x8xf64>, tensor<8xf64>) -> tensor<4x8xf64>
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<0.10000000149011612> : tensor<4x8xf64>
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[N]], %[[C]] : tensor<4x8xf64>
// CHECK-NEXT: return %[[S]] : tensor<4x8xf64>
func.func private @layer(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %n = nn.rms_norm %x, %g {eps = 1.0e-5 : f32} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %b = arith.truncf %n : tensor<4x8xf32> to tensor<4x8xbf16>
  %w = arith.extf %b : tensor<4x8xbf16> to tensor<4x8xf32>
  %c = arith.constant dense<0.1> : tensor<4x8xf32>
  %s = arith.mulf %w, %c : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// An argument that changes keeps what it was; the layer's have no initial value.
// CHECK-LABEL: func.func @loss(
// CHECK-SAME: tensor<4xi32> {nn.input = "ids"}
// CHECK-SAME: tensor<16x8xf64> {nn.init = "normal 1", nn.param = "t", nn.written = bf16}
// CHECK-SAME: tensor<8xf64> {nn.init = "normal 1", nn.param = "g", nn.written = f32}
// CHECK-SAME: tensor<8xf64> {nn.init = "normal 1", nn.param = "d"}) -> tensor<f64>
// CHECK: %[[E:.*]] = nn.embedding {{.*}} : (tensor<16x8xf64>, tensor<4xi32>) -> tensor<4x8xf64>
// CHECK-NEXT: call @layer(%[[E]], %{{.*}}) : (tensor<4x8xf64>, tensor<8xf64>) -> tensor<4x8xf64>
// CHECK: nn.pad {{.*}}value = 5.000000e-01 : f64
// CHECK: arith.constant dense<[1.000000e+00, 0.10000000149011612,
// STEP-LABEL: func.func @step(
// STEP-SAME: nn.written = bf16
// STEP-SAME: tensor<16x8xf64> {nn.state = "m:t"}
// STEP-SAME: tensor<f64> {nn.lr}
// STEP-NOT: f32>
func.func @loss(%ids: tensor<4xi32> {nn.input = "ids"},
    %t: tensor<16x8xbf16> {nn.param = "t", nn.init = "normal 1"},
    %g: tensor<8xf32> {nn.param = "g", nn.init = "normal 1"},
    %d: tensor<8xf64> {nn.param = "d", nn.init = "normal 1"}) -> tensor<f32> {
  %e = nn.embedding %t, %ids : (tensor<16x8xbf16>, tensor<4xi32>) -> tensor<4x8xbf16>
  %w = arith.extf %e : tensor<4x8xbf16> to tensor<4x8xf32>
  %y = func.call @layer(%w, %g) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %p = nn.pad %y {low = array<i64: 0, 0>, high = array<i64: 1, 0>, value = 0.5 : f32} : (tensor<4x8xf32>) -> tensor<5x8xf32>
  %c = arith.constant dense<[1.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]> : tensor<8xf32>
  %n = arith.truncf %d : tensor<8xf64> to tensor<8xf32>
  %l = nn.einsum "a b, b, b ->"(%p, %c, %n) : (tensor<5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
