// RUN: dist-opt %s --dist-test-print-costs --verify-diagnostics

func.func @structural(%x: tensor<8x16x4xf32>, %w: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // A product and a sum at each point.
  // expected-remark@+1 {{6144 flops, 5216 bytes}}
  %0 = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<8x16x4xf32>, tensor<4x6xf32>) -> tensor<8x16x6xf32>
  // Two products and a sum.
  // expected-remark@+1 {{9216 flops, 2680 bytes}}
  %1 = nn.einsum "b s d, d e, e -> b s"(%x, %w, %v) : (tensor<8x16x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x16xf32>
  // An outer product sums nothing.
  // expected-remark@+1 {{36 flops, 192 bytes}}
  %2 = nn.einsum "a, b -> a b"(%v, %v) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  // expected-remark@+1 {{0 flops, 4096 bytes}}
  %3 = nn.rearrange "b s d -> s b d"(%x) : (tensor<8x16x4xf32>) -> tensor<16x8x4xf32>
  // expected-remark@+1 {{0 flops, 72 bytes}}
  %4 = nn.repeat "d -> b d"(%v) : (tensor<6xf32>) -> tensor<2x6xf32>
  // expected-remark@+1 {{512 flops, 2080 bytes}}
  %5 = nn.reduce sum "b s d -> b"(%x) : (tensor<8x16x4xf32>) -> tensor<8xf32>
  return
}

func.func @indexing(%t: tensor<512x64xbf16>, %ids: tensor<8xi32>, %u: tensor<8x64xbf16>) {
  // expected-remark@+1 {{0 flops, 66592 bytes}}
  %0 = nn.embedding %t, %ids : (tensor<512x64xbf16>, tensor<8xi32>) -> tensor<8x64xbf16>
  // expected-remark@+1 {{512 flops}}
  %1 = nn.embedding_grad %ids, %u : (tensor<8xi32>, tensor<8x64xbf16>) -> tensor<512x64xbf16>
  // expected-remark@+1 {{512 flops}}
  %2 = nn.scatter_add %t, %ids, %u {dim = 0 : i64} : (tensor<512x64xbf16>, tensor<8xi32>, tensor<8x64xbf16>) -> tensor<512x64xbf16>
  // expected-remark@+1 {{32768 flops}}
  %3 = nn.argmax %t {dim = 1 : i64} : (tensor<512x64xbf16>) -> tensor<512xi32>
  return
}

func.func @elementwise(%x: tensor<8x4xf32>) {
  // expected-remark@+1 {{0 flops, 128 bytes}}
  %0 = arith.constant dense<1.0> : tensor<8x4xf32>
  // expected-remark@+1 {{32 flops, 384 bytes}}
  %1 = arith.addf %x, %0 : tensor<8x4xf32>
  // expected-remark@+1 {{256 flops, 256 bytes}}
  %2 = math.exp %x : tensor<8x4xf32>
  // expected-remark@+1 {{512 flops, 384 bytes}}
  %3 = math.powf %x, %0 : tensor<8x4xf32>
  return
}
