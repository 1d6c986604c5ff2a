// RUN: dist-opt %s --dist-test-print-sharding-rules --verify-diagnostics

// Each query head has its own kv head: heads are one factor.
func.func @own_heads(%q: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x6xf32>) {
  // expected-remark@+1 {{b h [s] [d], b h [t] [d], b h [t] [e] -> b h [s] [e]; sizes b=2 h=4 s=16 d=8 t=16 e=6}}
  %o = nn.attention %q, %q, %v {causal, scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x16x6xf32>
  return
}

// A query head is a kv head and one of its r queries.
func.func @shared_heads(%q: tensor<2x4x16x8xf32>, %k: tensor<2x2x16x8xf32>) {
  // expected-remark@+1 {{b (g r) [s] [d], b g [t] [d], b g [t] [e] -> b (g r) [s] [e]; sizes b=2 g=2 r=2 s=16 d=8 t=16 e=8}}
  %o = nn.attention %q, %k, %k {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>) -> tensor<2x4x16x8xf32>
  return
}

// With queries grouped, kv heads are shared by all and r is in q alone; a
// dimension of size 1 has no factor.
func.func @grouped(%q: tensor<2x2x3x16x8xf32>, %k: tensor<2x2x32x8xf32>, %bias: tensor<2x1x1x32xf32>, %key: tensor<2xi32>) {
  // expected-remark@+1 {{b g r [s] [d], b g [t] [d], b g [t] [e], g 1 1 [t], [key] -> b g r [s] [e], b g r [s]; sizes}}
  %o, %lse = nn.attention %q, %k, %k bias(%bias) key(%key) {scale = 1.0 : f32, dropout = 0.5 : f32} : (tensor<2x2x3x16x8xf32>, tensor<2x2x32x8xf32>, tensor<2x2x32x8xf32>, tensor<2x1x1x32xf32>, tensor<2xi32>) -> (tensor<2x2x3x16x8xf32>, tensor<2x2x3x16xf32>)
  // dk, dv and dbias lack r: they are partial sums where it is divided.
  // expected-remark@+1 {{-> b g r [s] [d], b g [t] [d], b g [t] [e], g 1 1 [t]; sizes}}
  %dq, %dk, %dv, %dbias = nn.attention_grad %q, %k, %k, %o, %lse, %o bias(%bias) key(%key) {scale = 1.0 : f32, dropout = 0.5 : f32} : (tensor<2x2x3x16x8xf32>, tensor<2x2x32x8xf32>, tensor<2x2x32x8xf32>, tensor<2x2x3x16x8xf32>, tensor<2x2x3x16xf32>, tensor<2x2x3x16x8xf32>, tensor<2x1x1x32xf32>, tensor<2xi32>) -> (tensor<2x2x3x16x8xf32>, tensor<2x2x32x8xf32>, tensor<2x2x32x8xf32>, tensor<2x1x1x32xf32>)
  return
}

func.func @segments(%q: tensor<2x4x16x8xf32>, %i: tensor<2x16xi32>) {
  // expected-remark@+1 {{b h [s] [d], b h [t] [d], b h [t] [e], b [s] -> b h [s] [e]; sizes}}
  %o = nn.attention %q, %q, %q segment_ids(%i) {scale = 1.0 : f32} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x16xi32>) -> tensor<2x4x16x8xf32>
  return
}

// Positions follow a divided sequence.
func.func @rope(%x: tensor<2x4x16x8xf32>, %y: tensor<2x2x2x16x8xf32>, %pos: tensor<16xi32>, %each: tensor<2x16xi32>, %f: tensor<4xf32>) {
  // expected-remark@+1 {{b h s [d], s -> b h s [d]; sizes b=2 h=4 s=16 d=8; linear alone, no}}
  %0 = nn.rope %x, %pos {theta = 1.0e4 : f32} : (tensor<2x4x16x8xf32>, tensor<16xi32>) -> tensor<2x4x16x8xf32>
  // expected-remark@+1 {{b g r s [d], b s, [f] -> b g r s [d]; sizes}}
  %1 = nn.rope %y, %each freqs(%f) : (tensor<2x2x2x16x8xf32>, tensor<2x16xi32>, tensor<4xf32>) -> tensor<2x2x2x16x8xf32>
  return
}

func.func @elementwise(%x: tensor<8x4xf32>, %key: tensor<2xi32>) {
  // expected-remark@+1 {{i0 i1 -> i0 i1; sizes i0=8 i1=4; linear no}}
  %0 = nn.gelu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{i0 i1, [key] -> i0 i1; sizes i0=8 i1=4 key=2; linear alone, no}}
  %1 = nn.dropout %x, %key {rate = 0.5 : f32} : (tensor<8x4xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{[key] -> [key]}}
  %2 = nn.fold_in %key {data = 1 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

func.func @normalization(%x: tensor<8x4xf32>, %g: tensor<4xf32>, %l: tensor<8xi32>) {
  // expected-remark@+1 {{[i0] i1 -> [i0] i1}}
  %0 = nn.softmax %x {dim = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{i0 [i1], [i1], [i1] -> i0 [i1]}}
  %1 = nn.layer_norm %x, %g, %g {eps = 0.0 : f32} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{i0 [i1], i0 -> i0}}
  %2 = nn.cross_entropy %x, %l : (tensor<8x4xf32>, tensor<8xi32>) -> tensor<8xf32>
  return
}
