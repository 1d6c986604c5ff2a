// RUN: dist-opt %s --dist-lower-segments | FileCheck %s

// The gradients are written where the concatenation wants them, and that as the
// permutation behind it wants it, which the segment returns: nothing is copied.
// CHECK-LABEL: func.func @gradients_body(
// CHECK-SAME:    %[[DQKV:[a-z0-9]*]]: memref<2x8x3x2x4xf32>, %{{[a-z0-9]*}}: memref<{{.*}}xi8>)
// CHECK:         llvm.call @dist_attention_grad
// CHECK-NOT:     call @kernel
// CHECK:         return
func.func private @gradients(%q: tensor<2x2x8x4xf32>, %k: tensor<2x2x8x4xf32>, %v: tensor<2x2x8x4xf32>, %o: tensor<2x2x8x4xf32>, %lse: tensor<2x2x8xf32>, %do: tensor<2x2x8x4xf32>) -> tensor<2x8x3x2x4xf32> {
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %o, %lse, %do {causal, scale = 0.5 : f32} : (tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8xf32>, tensor<2x2x8x4xf32>) -> (tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>)
  %q1 = nn.rearrange "b h s k -> 1 b h s k"(%dq) : (tensor<2x2x8x4xf32>) -> tensor<1x2x2x8x4xf32>
  %k1 = nn.rearrange "b h s k -> 1 b h s k"(%dk) : (tensor<2x2x8x4xf32>) -> tensor<1x2x2x8x4xf32>
  %v1 = nn.rearrange "b h s k -> 1 b h s k"(%dv) : (tensor<2x2x8x4xf32>) -> tensor<1x2x2x8x4xf32>
  %c = nn.concat %q1, %k1, %v1 {dim = 0 : i64} : (tensor<1x2x2x8x4xf32>, tensor<1x2x2x8x4xf32>, tensor<1x2x2x8x4xf32>) -> tensor<3x2x2x8x4xf32>
  %y = nn.rearrange "c b h s k -> b s c h k"(%c) : (tensor<3x2x2x8x4xf32>) -> tensor<2x8x3x2x4xf32>
  return %y : tensor<2x8x3x2x4xf32>
}

// An attention writes the order of the result that is a permutation of its own.
// CHECK-LABEL: func.func @mixed_body(
// CHECK:         llvm.call @dist_attention(
// CHECK-NOT:     call @kernel
// CHECK:         return
func.func private @mixed(%q: tensor<2x2x8x4xf32>, %k: tensor<2x2x8x4xf32>, %v: tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32> {
  %o = nn.attention %q, %k, %v {causal, scale = 0.5 : f32} : (tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>) -> tensor<2x2x8x4xf32>
  %y = nn.rearrange "b h s k -> b s h k"(%o) : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
  return %y : tensor<2x8x2x4xf32>
}

// A gradient of a weight is written as the weight lies, whichever operand has
// the rows.
// CHECK-LABEL: func.func @weight_body(
// CHECK:         llvm.call @dist_gemm
// CHECK-NOT:     call @kernel
// CHECK:         return
func.func private @weight(%x: tensor<8x16xf32>, %dy: tensor<8x32xf32>) -> tensor<16x32xf32> {
  %dw = nn.einsum "b e, b d -> d e"(%dy, %x) : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<16x32xf32>
  return %dw : tensor<16x32xf32>
}

// The angles of a rotation are computed once for all batches and heads.
// CHECK-LABEL: func.func @rotated_body(
// CHECK:         call @[[ANGLES:kernel_[0-9]+]](
// CHECK:         call @[[ROTATE:kernel_[0-9]+]](
// CHECK:       func.func private @[[ROTATE]]({{.*}}: memref<2x2x8x4xf32>, {{.*}}: memref<2x2x8x4xf32>, {{.*}}: memref<8x2xf32>, {{.*}}: memref<8x2xf32>)
// CHECK-NOT:     math.cos
// CHECK:       func.func private @[[ANGLES]]({{.*}}: memref<8xi32>, {{.*}}: memref<8x2xf32>, {{.*}}: memref<8x2xf32>)
// CHECK:         math.cos
func.func private @rotated(%x: tensor<2x2x8x4xf32>, %p: tensor<8xi32>) -> tensor<2x2x8x4xf32> {
  %y = nn.rope %x, %p {theta = 1.0e4 : f32} : (tensor<2x2x8x4xf32>, tensor<8xi32>) -> tensor<2x2x8x4xf32>
  return %y : tensor<2x2x8x4xf32>
}
