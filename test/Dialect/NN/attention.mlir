// RUN: dist-opt %s | dist-opt | FileCheck %s
// RUN: dist-opt %s --mlir-print-op-generic | dist-opt | FileCheck %s
// RUN: dist-opt %s --emit-bytecode | dist-opt | FileCheck %s

// CHECK-LABEL: @grouped_heads
func.func @grouped_heads(%q: tensor<2x4x16x64xf32>, %k: tensor<2x2x16x64xf32>, %v: tensor<2x2x16x32xf32>) -> tensor<2x4x16x32xf32> {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 1.250000e-01 : f32} :
  // CHECK-SAME: -> tensor<2x4x16x32xf32>
  %o = nn.attention %q, %k, %v {causal, scale = 0.125 : f32} : (tensor<2x4x16x64xf32>, tensor<2x2x16x64xf32>, tensor<2x2x16x32xf32>) -> tensor<2x4x16x32xf32>
  return %o : tensor<2x4x16x32xf32>
}

// CHECK-LABEL: @all_options
func.func @all_options(%q: tensor<2x4x16x8xf32>, %m: tensor<1x4x1x16xf32>, %i: tensor<2x16xi32>, %r: tensor<2xi32>) -> tensor<2x4x16x8xf32> {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias(%arg1) segment_ids(%arg2) key(%arg3)
  // CHECK-SAME: {causal, dropout = 1.000000e-01 : f32, scale = 1.250000e-01 : f32, softcap = 5.000000e+01 : f32, window = 64 : i64}
  %o = nn.attention %q, %q, %q bias(%m) segment_ids(%i) key(%r) {causal, scale = 0.125 : f32, window = 64 : i64, softcap = 50.0 : f32, dropout = 0.1 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<1x4x1x16xf32>, tensor<2x16xi32>, tensor<2xi32>) -> tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// Queries of a kv head as a dimension, another length of keys, a bias that is
// the same for all heads.
// CHECK-LABEL: @gradient
func.func @gradient(%q: tensor<2x2x3x16x8xbf16>, %k: tensor<2x2x32x8xbf16>, %bias: tensor<16x32xbf16>) -> tensor<16x32xbf16> {
  // CHECK: %{{.*}}, %{{.*}} = nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias(%arg2)
  // CHECK-SAME: -> (tensor<2x2x3x16x8xbf16>, tensor<2x2x3x16xf32>)
  %o, %lse = nn.attention %q, %k, %k bias(%bias) {scale = 1.0 : f32} : (tensor<2x2x3x16x8xbf16>, tensor<2x2x32x8xbf16>, tensor<2x2x32x8xbf16>, tensor<16x32xbf16>) -> (tensor<2x2x3x16x8xbf16>, tensor<2x2x3x16xf32>)
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} bias(%arg2) {scale
  %dq, %dk, %dv, %dbias = nn.attention_grad %q, %k, %k, %o, %lse, %q bias(%bias) {scale = 1.0 : f32} : (tensor<2x2x3x16x8xbf16>, tensor<2x2x32x8xbf16>, tensor<2x2x32x8xbf16>, tensor<2x2x3x16x8xbf16>, tensor<2x2x3x16xf32>, tensor<2x2x3x16x8xbf16>, tensor<16x32xbf16>) -> (tensor<2x2x3x16x8xbf16>, tensor<2x2x32x8xbf16>, tensor<2x2x32x8xbf16>, tensor<16x32xbf16>)
  return %dbias : tensor<16x32xbf16>
}

// CHECK-LABEL: @rope
func.func @rope(%x: tensor<2x4x16x64xf32>, %pos: tensor<16xi32>, %each: tensor<2x16xi32>, %f: tensor<16xf32>) -> tensor<2x4x16x64xf32> {
  // CHECK: nn.rope %{{.*}}, %{{.*}} {theta = 1.000000e+04 : f32} : (tensor<2x4x16x64xf32>, tensor<16xi32>) ->
  %0 = nn.rope %x, %pos {theta = 1.0e4 : f32} : (tensor<2x4x16x64xf32>, tensor<16xi32>) -> tensor<2x4x16x64xf32>
  // CHECK: nn.rope %{{.*}}, %{{.*}} freqs(%{{.*}}) {dims = 32 : i64, interleaved, inverse} :
  %1 = nn.rope %0, %each freqs(%f) {dims = 32 : i64, interleaved, inverse} : (tensor<2x4x16x64xf32>, tensor<2x16xi32>, tensor<16xf32>) -> tensor<2x4x16x64xf32>
  return %1 : tensor<2x4x16x64xf32>
}
