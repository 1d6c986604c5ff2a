// RUN: dist-opt %s --dist-test-write-derivatives --canonicalize --split-input-file | FileCheck %s

// The forward is asked for its log-sum-exp, ids and keys have no cotangent.
// CHECK-LABEL: @attention
// CHECK-SAME: , %arg5: tensor<2x2x3x16x8xf32>) -> (tensor<2x2x3x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<16x16xf32>)
// CHECK: %[[O:.*]], %[[LSE:.*]] = nn.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] bias(%[[BIAS:.*]]) segment_ids(%[[IDS:.*]]) key(%[[KEY:.*]]) {causal, dropout = 5.000000e-01 : f32, nn.layer = 1 : i64, scale = 1.250000e-01 : f32}
// CHECK: nn.attention_grad %[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]], %arg5 bias(%[[BIAS]]) segment_ids(%[[IDS]]) key(%[[KEY]]) {causal, dropout = 5.000000e-01 : f32, scale = 1.250000e-01 : f32}
func.func @attention(%q: tensor<2x2x3x16x8xf32>, %k: tensor<2x2x16x8xf32>, %bias: tensor<16x16xf32>, %i: tensor<2x16xi32>, %key: tensor<2xi32>) -> tensor<2x2x3x16x8xf32> {
  %o = nn.attention %q, %k, %k bias(%bias) segment_ids(%i) key(%key) {causal, dropout = 0.5 : f32, scale = 0.125 : f32, nn.layer = 1 : i64} : (tensor<2x2x3x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<16x16xf32>, tensor<2x16xi32>, tensor<2xi32>) -> tensor<2x2x3x16x8xf32>
  return %o : tensor<2x2x3x16x8xf32>
}

// -----

// CHECK-LABEL: @rope
// CHECK: nn.rope %arg2, %arg1 {dims = 4 : i64, interleaved, inverse, theta = 1.000000e+04 : f32}
func.func @rope(%x: tensor<2x4x16x8xf32>, %pos: tensor<16xi32>) -> tensor<2x4x16x8xf32> {
  %y = nn.rope %x, %pos {dims = 4 : i64, interleaved, theta = 1.0e4 : f32} : (tensor<2x4x16x8xf32>, tensor<16xi32>) -> tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// -----

// The same key drops the same elements.
// CHECK-LABEL: @dropout
// CHECK: %[[DX:.*]] = nn.dropout %arg2, %arg1 {rate = 5.000000e-01 : f32}
// CHECK: return %[[DX]]
func.func @dropout(%x: tensor<8xf32>, %key: tensor<2xi32>) -> tensor<8xf32> {
  %y = nn.dropout %x, %key {rate = 0.5 : f32} : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: @stop_gradient
// CHECK: return{{$}}
func.func @stop_gradient(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = nn.stop_gradient %x : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// 0 at 0: only what is greater passes.
// CHECK-LABEL: @relu
// CHECK: %[[PASSES:.*]] = arith.cmpf ogt, %arg0, %[[ZERO:.*]] :
// CHECK: arith.select %[[PASSES]], %arg1, %[[ZERO]]
func.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = nn.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK: %[[Y:.*]] = nn.softmax %arg0
// CHECK: %[[WEIGHTED:.*]] = arith.mulf %[[Y]], %arg1
// CHECK: %[[SUM:.*]] = nn.reduce sum "d0 d1 -> d0"(%[[WEIGHTED]])
// CHECK: %[[SUMS:.*]] = nn.repeat "d0 -> d0 d1"(%[[SUM]])
// CHECK: %[[REST:.*]] = arith.subf %arg1, %[[SUMS]]
// CHECK: arith.mulf %[[Y]], %[[REST]]
func.func @softmax(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = nn.softmax %x {dim = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
