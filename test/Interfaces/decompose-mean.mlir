// RUN: dist-opt %s --dist-decompose | FileCheck %s

// CHECK-LABEL: @mean(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>
// CHECK-NEXT: %[[S:.*]] = nn.reduce sum "b s -> b"(%[[X]])
// CHECK-NEXT: %[[N:.*]] = arith.constant dense<1.600000e+01> : tensor<8xf32>
// CHECK-NEXT: %[[M:.*]] = arith.divf %[[S]], %[[N]]
// CHECK-NEXT: return %[[M]]
func.func @mean(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %0 = nn.reduce mean "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Rounded once.
// CHECK-LABEL: @mean_bf16(
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : tensor<8x16xbf16> to tensor<8x16xf32>
// CHECK: %[[S:.*]] = nn.reduce sum "b s -> b"(%[[X]])
// CHECK: %[[M:.*]] = arith.divf %[[S]], %{{.*}} : tensor<8xf32>
// CHECK: %[[Y:.*]] = arith.truncf %[[M]] : tensor<8xf32> to tensor<8xbf16>
// CHECK: return %[[Y]]
func.func @mean_bf16(%x: tensor<8x16xbf16>) -> tensor<8xbf16> {
  %0 = nn.reduce mean "b s -> b"(%x) : (tensor<8x16xbf16>) -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// Other reductions stand for themselves.
// CHECK-LABEL: @sum(
// CHECK-NEXT: %[[S:.*]] = nn.reduce sum
// CHECK-NEXT: return %[[S]]
func.func @sum(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %0 = nn.reduce sum "b s -> b"(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
