// RUN: dist-opt %s --dist-decompose --split-input-file | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK: %[[MAX:.*]] = nn.reduce max "d0 d1 d2 -> d0 d2"(%arg0)
// CHECK: %[[MAXES:.*]] = nn.repeat "d0 d2 -> d0 d1 d2"(%[[MAX]])
// CHECK: %[[SHIFTED:.*]] = arith.subf %arg0, %[[MAXES]]
// CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = nn.reduce sum "d0 d1 d2 -> d0 d2"(%[[EXP]])
// CHECK: %[[SUMS:.*]] = nn.repeat "d0 d2 -> d0 d1 d2"(%[[SUM]])
// CHECK: %[[P:.*]] = arith.divf %[[EXP]], %[[SUMS]]
// CHECK: return %[[P]]
func.func @softmax(%x: tensor<8x16x4xf32>) -> tensor<8x16x4xf32> {
  %p = nn.softmax %x {dim = 1 : i64} : (tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
  return %p : tensor<8x16x4xf32>
}

// -----

// CHECK-LABEL: @log_softmax
// CHECK: %[[SHIFTED:.*]] = arith.subf %arg0
// CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = nn.reduce sum "d0 ->"(%[[EXP]])
// CHECK: %[[LOG:.*]] = math.log %[[SUM]]
// CHECK: %[[LOGS:.*]] = nn.repeat
// CHECK: arith.subf %[[SHIFTED]], %[[LOGS]]
func.func @log_softmax(%x: tensor<16xf64>) -> tensor<16xf64> {
  %p = nn.log_softmax %x {dim = 0 : i64} : (tensor<16xf64>) -> tensor<16xf64>
  return %p : tensor<16xf64>
}

// -----

// Narrow operands are computed in f32, and what is built stays in its layer.
// CHECK-LABEL: @layer_norm
// CHECK-NOT: arith.{{subf|mulf|divf|addf}} {{.*}}bf16
// CHECK: %[[X:.*]] = arith.extf %arg0 {nn.layer = 3 : i64} : tensor<8x64xbf16> to tensor<8x64xf32>
// CHECK: nn.reduce sum "d0 d1 -> d0"(%[[X]]) {nn.layer = 3 : i64}
// CHECK: %[[CENTRED:.*]] = arith.subf %[[X]]
// CHECK: %[[SQUARES:.*]] = arith.mulf %[[CENTRED]], %[[CENTRED]]
// CHECK: nn.reduce sum "d0 d1 -> d0"(%[[SQUARES]])
// CHECK: math.rsqrt
// CHECK: %[[Y:.*]] = arith.truncf {{.*}} : tensor<8x64xf32> to tensor<8x64xbf16>
// CHECK: return %[[Y]]
func.func @layer_norm(%x: tensor<8x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xbf16>) -> tensor<8x64xbf16> {
  %y = nn.layer_norm %x, %g, %b {eps = 1.0e-5 : f32, nn.layer = 3 : i64} : (tensor<8x64xbf16>, tensor<64xbf16>, tensor<64xbf16>) -> tensor<8x64xbf16>
  return %y : tensor<8x64xbf16>
}

// -----

// CHECK-LABEL: @rms_norm
// CHECK: %[[SQUARES:.*]] = arith.mulf %arg0, %arg0
// CHECK: nn.reduce sum "d0 d1 -> d0"(%[[SQUARES]])
// CHECK: math.rsqrt
// CHECK: %[[WEIGHTS:.*]] = nn.repeat "d1 -> d0 d1"(%arg1)
// CHECK: arith.mulf {{.*}}, %[[WEIGHTS]]
// CHECK-NOT: nn.reduce
func.func @rms_norm(%x: tensor<8x64xf32>, %g: tensor<64xf32>) -> tensor<8x64xf32> {
  %y = nn.rms_norm %x, %g {eps = 1.0e-6 : f32} : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// The classes are read by a maximum, a sum of exponentials and a pick.
// CHECK-LABEL: @cross_entropy
// CHECK: nn.reduce max "d0 d1 -> d0"(%arg0)
// CHECK: %[[SHIFTED:.*]] = arith.subf %arg0
// CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]]
// CHECK: nn.reduce sum "d0 d1 -> d0"(%[[EXP]])
// CHECK: %[[LABELS:.*]] = nn.checked %arg1 {bound = 512 : i64, what = "cross_entropy"}
// CHECK: %[[CLASS:.*]] = nn.iota {dim = 1 : i64} : () -> tensor<8x512xi32>
// CHECK: %[[REPEATED:.*]] = nn.repeat "d0 -> d0 d1"(%[[LABELS]])
// CHECK: %[[HOT:.*]] = arith.cmpi eq, %[[CLASS]], %[[REPEATED]]
// CHECK: %[[PICKED:.*]] = arith.select %[[HOT]], %[[SHIFTED]], %{{.*}}
// CHECK: nn.reduce sum "d0 d1 -> d0"(%[[PICKED]])
// CHECK-NOT: nn.reduce
// CHECK-NOT: arith.select
func.func @cross_entropy(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<8xf32> {
  %y = nn.cross_entropy %x, %l : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: @cross_entropy_options
// CHECK: nn.checked %arg1 {bound = 512 : i64, ignore_index = -100 : i64, what = "cross_entropy"}
// CHECK-COUNT-2: nn.reduce sum "d0 d1 -> d0"
// CHECK: %[[IGNORED:.*]] = arith.cmpi eq
// CHECK: %[[LOSS:.*]] = arith.select %[[IGNORED]]
// CHECK: return %[[LOSS]]
func.func @cross_entropy_options(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<8xf32> {
  %y = nn.cross_entropy %x, %l {ignore_index = -100 : i64, label_smoothing = 0.1 : f32, z_loss = 1.0e-4 : f32} : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
