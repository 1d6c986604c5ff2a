// RUN: dist-opt %s --dist-test-print-sharding-rules --verify-diagnostics

// A pattern is the rule; a name that the result lacks is summed.
func.func @structural(%x: tensor<8x16x12xf32>, %w: tensor<12x6xf32>, %g: tensor<12xf32>) {
  // expected-remark@+1 {{b s d, d e -> b s e; sizes b=8 s=16 d=12 e=6; linear alone, alone}}
  %0 = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<8x16x12xf32>, tensor<12x6xf32>) -> tensor<8x16x6xf32>
  // expected-remark@+1 {{b s (h k) -> b h 1 (s k); sizes b=8 s=16 h=4 k=3; linear alone}}
  %1 = nn.rearrange "b s (h k) -> b h 1 (s k)"(%x) {h = 4 : i64} : (tensor<8x16x12xf32>) -> tensor<8x4x1x48xf32>
  // expected-remark@+1 {{d -> b s d; sizes d=12 b=8 s=16; linear alone}}
  %2 = nn.repeat "d -> b s d"(%g) : (tensor<12xf32>) -> tensor<8x16x12xf32>
  return
}

// Means are sums by the time they are sharded.
func.func @reduce(%x: tensor<8x16xf32>) {
  // expected-remark@+1 {{b s -> b; sizes b=8 s=16; linear alone}}
  %0 = nn.reduce sum "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{b s -> b; sizes b=8 s=16; linear alone}}
  %1 = nn.reduce mean "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{b s -> b (max); sizes b=8 s=16; linear no}}
  %2 = nn.reduce max "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{b s -> b (min); sizes b=8 s=16; linear no}}
  %3 = nn.reduce min "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  return
}

// A cut dimension is needed whole; the others are shared.
func.func @shape(%x: tensor<8x6xf32>, %y: tensor<8x2xf32>) {
  // expected-remark@+1 {{i0 ([o1_0] i1) -> i0 ([o1_1] i1); sizes i0=8 i1=2 o1_0=3 o1_1=1; linear alone}}
  %0 = nn.slice %x {starts = array<i64: 0, 4>, limits = array<i64: 8, 6>, strides = array<i64: 1, 1>} : (tensor<8x6xf32>) -> tensor<8x2xf32>
  // expected-remark@+1 {{[o0_0] i1 -> [o0_1] i1; sizes o0_0=8 o0_1=9 i1=6; linear alone}}
  %1 = nn.pad %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<8x6xf32>) -> tensor<9x6xf32>
  // A border that is not zero would be added once per device.
  // expected-remark@+1 {{[o0_0] i1 -> [o0_1] i1; sizes o0_0=8 o0_1=9 i1=6; linear no}}
  %2 = nn.pad %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>, value = 1.0 : f32} : (tensor<8x6xf32>) -> tensor<9x6xf32>
  // expected-remark@+1 {{i0 ([o1_0] i1), i0 ([o1_1] i1) -> i0 ([o1_2] i1); sizes i0=8 i1=2 o1_0=3 o1_1=1 o1_2=4; linear jointly, jointly}}
  %3 = nn.concat %x, %y {dim = 1 : i64} : (tensor<8x6xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
  // expected-remark@+1 {{i0 [o1_0] -> i0 [o1_1]; sizes i0=8 o1_0=6 o1_1=6; linear alone}}
  %4 = nn.reverse %x {dims = array<i64: 1>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// A reshape shares what it splits or merges; shapes that do not fit are whole.
func.func @reshape(%x: tensor<8x6x4xf32>, %y: tensor<5x8x6xf32>) {
  // expected-remark@+1 {{i0 i1 i2 -> i0 (i1 i2); sizes i0=8 i1=6 i2=4; linear alone}}
  %0 = nn.reshape %x : (tensor<8x6x4xf32>) -> tensor<8x24xf32>
  // expected-remark@+1 {{(i0 i1) i2 i3 -> i0 i1 1 i2 i3; sizes i0=2 i1=4 i2=6 i3=4; linear alone}}
  %1 = nn.reshape %x : (tensor<8x6x4xf32>) -> tensor<2x4x1x6x4xf32>
  // expected-remark@+1 {{i0 [i1] [i2] -> i0 [i3] [i4]; sizes i0=5 i1=8 i2=6 i3=4 i4=12; linear alone}}
  %2 = nn.reshape %y : (tensor<5x8x6xf32>) -> tensor<5x4x12xf32>
  return
}

// Rows of a table that lie elsewhere read as 0.
func.func @indexing(%t: tensor<512x64xf32>, %ids: tensor<8x16xi32>, %u: tensor<8x16x64xf32>,
                    %x: tensor<8x16x4xf32>, %i: tensor<3xi32>, %j: tensor<8x3x4xi32>, %v: tensor<8x3x4xf32>) {
  // expected-remark@+1 {{v d1, i0 i1 -> i0 i1 d1; sizes v=512 d1=64 i0=8 i1=16; linear alone, no}}
  %0 = nn.embedding %t, %ids : (tensor<512x64xf32>, tensor<8x16xi32>) -> tensor<8x16x64xf32>
  // expected-remark@+1 {{i0 i1, i0 i1 d1 -> v d1; sizes i0=8 i1=16 d1=64 v=512; linear no, alone}}
  %1 = nn.embedding_grad %ids, %u : (tensor<8x16xi32>, tensor<8x16x64xf32>) -> tensor<512x64xf32>
  // expected-remark@+1 {{i0 [t] i2, j0 -> i0 j0 i2; sizes i0=8 t=16 i2=4 j0=3; linear alone, no}}
  %2 = nn.take %x, %i {dim = 1 : i64} : (tensor<8x16x4xf32>, tensor<3xi32>) -> tensor<8x3x4xf32>
  // expected-remark@+1 {{i0 [t] i2, i0 j i2 -> i0 j i2; sizes i0=8 t=16 i2=4 j=3; linear alone, no}}
  %3 = nn.gather %x, %j {dim = 1 : i64} : (tensor<8x16x4xf32>, tensor<8x3x4xi32>) -> tensor<8x3x4xf32>
  // expected-remark@+1 {{i0 [t] i2, [j0], i0 [j0] i2 -> i0 [t] i2; sizes i0=8 t=16 i2=4 j0=3; linear jointly, no, jointly}}
  %4 = nn.scatter_add %x, %i, %v {dim = 1 : i64} : (tensor<8x16x4xf32>, tensor<3xi32>, tensor<8x3x4xf32>) -> tensor<8x16x4xf32>
  // expected-remark@+1 {{i0 [t] i2, i0 [j] i2, i0 [j] i2 -> i0 [t] i2; sizes i0=8 t=16 i2=4 j=3; linear jointly, no, jointly}}
  %5 = nn.scatter_add %x, %j, %v {dim = 1 : i64} : (tensor<8x16x4xf32>, tensor<8x3x4xi32>, tensor<8x3x4xf32>) -> tensor<8x16x4xf32>
  // expected-remark@+1 {{i0 [t] i2 -> i0 i2; sizes i0=8 t=16 i2=4; linear no}}
  %6 = nn.argmax %x {dim = 1 : i64} : (tensor<8x16x4xf32>) -> tensor<8x4xi32>
  // expected-remark@+1 {{-> i0 i1; sizes i0=4 i1=128; linear}}
  %7 = nn.iota {dim = 1 : i64} : () -> tensor<4x128xi32>
  return
}

// Upstream ops by external models. Rounding keeps truncf from being linear.
func.func @elementwise(%x: tensor<8x4xf32>, %c: tensor<8x4xi1>, %s: i1) {
  // expected-remark@+1 {{-> i0 i1; sizes i0=8 i1=4; linear}}
  %k = arith.constant dense<1.0> : tensor<8x4xf32>
  // expected-remark@+1 {{i0 i1, i0 i1 -> i0 i1; sizes i0=8 i1=4; linear jointly, jointly}}
  %0 = arith.addf %x, %k : tensor<8x4xf32>
  // expected-remark@+1 {{linear jointly, jointly}}
  %1 = arith.subf %x, %k : tensor<8x4xf32>
  // expected-remark@+1 {{linear alone, alone}}
  %2 = arith.mulf %x, %k : tensor<8x4xf32>
  // expected-remark@+1 {{linear alone, no}}
  %3 = arith.divf %x, %k : tensor<8x4xf32>
  // expected-remark@+1 {{linear no, no}}
  %4 = arith.maximumf %x, %k : tensor<8x4xf32>
  // expected-remark@+1 {{i0 i1, i0 i1, i0 i1 -> i0 i1; sizes i0=8 i1=4; linear no, jointly, jointly}}
  %5 = arith.select %c, %x, %k : tensor<8x4xi1>, tensor<8x4xf32>
  // expected-remark@+1 {{, i0 i1, i0 i1 -> i0 i1; sizes i0=8 i1=4; linear no, jointly, jointly}}
  %6 = arith.select %s, %x, %k : tensor<8x4xf32>
  // expected-remark@+1 {{linear alone}}
  %7 = arith.extf %x : tensor<8x4xf32> to tensor<8x4xf64>
  // expected-remark@+1 {{linear no}}
  %8 = arith.truncf %x : tensor<8x4xf32> to tensor<8x4xbf16>
  // expected-remark@+1 {{i0 i1 -> i0 i1; sizes i0=8 i1=4; linear no}}
  %9 = math.exp %x : tensor<8x4xf32>
  return
}
