// RUN: dist-opt %s --dist-lower-segments | FileCheck %s

// The new value is computed where the old one lies; the kernel has one buffer
// for both.
// CHECK-LABEL: func.func @update_body(
// CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr, %[[W:.*]]: memref<8x16xf32>, %[[G:.*]]: memref<8x16xf32>, %[[NEW:.*]]: memref<8x16xf32>, %{{.*}}: memref<0xi8>)
// CHECK-SAME:    dist.in_place = array<i64: 0, 0>
// CHECK:         call @[[KERNEL:.*]](%[[RANK]], %[[W]], %[[G]]) :
// CHECK-NEXT:    return
func.func private @update(%w: tensor<8x16xf32>, %g: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %u = arith.subf %w, %g : tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}

// What is read by more than elementwise ops stays apart.
// CHECK-LABEL: func.func @normalize_body(
// CHECK-NOT:     dist.in_place
// CHECK:         return
func.func private @normalize(%w: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = nn.reduce sum "a b -> a"(%w) : (tensor<8x16xf32>) -> tensor<8xf32>
  %r = nn.repeat "a -> a b"(%s) : (tensor<8xf32>) -> tensor<8x16xf32>
  %u = arith.divf %w, %r : tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}

// The product reads the old value after the new one is there.
// CHECK-LABEL: func.func @late_body(
// CHECK-NOT:     dist.in_place
// CHECK:       llvm.call @dist_gemm
// CHECK:       return
func.func private @late(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %u = arith.subf %w, %g : tensor<16x16xf32>
  %p = nn.einsum "a b, b c -> a c"(%w, %u) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %u, %p : tensor<16x16xf32>, tensor<16x16xf32>
}

// Through a transposition elements would be overwritten before they are read.
// CHECK-LABEL: func.func @transposed_body(
// CHECK-NOT:     dist.in_place
// CHECK:       return
func.func private @transposed(%w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = nn.rearrange "a b -> b a"(%w) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %u = arith.subf %w, %t : tensor<16x16xf32>
  return %u : tensor<16x16xf32>
}

// The first call would overwrite `b`, which the second one reads; so neither
// call of the segment is in place.
// CHECK-LABEL: func.func @pair_body(
// CHECK-NOT:     dist.in_place
// CHECK:       return
func.func private @pair(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %u = arith.mulf %w, %g : tensor<4xf32>
  return %u : tensor<4xf32>
}

func.func @step(%a: tensor<8x16xf32> {nn.param = "a"}, %n: tensor<8x16xf32> {nn.param = "n"},
                %l: tensor<16x16xf32> {nn.param = "l"}, %t: tensor<16x16xf32> {nn.param = "t"},
                %b: tensor<4xf32> {nn.param = "b"}, %d: tensor<4xf32> {nn.param = "d"},
                %g: tensor<8x16xf32> {nn.input = "g"}, %h: tensor<16x16xf32> {nn.input = "h"})
    -> (tensor<8x16xf32> {nn.param = "a"}, tensor<8x16xf32> {nn.param = "n"},
        tensor<16x16xf32> {nn.param = "l"}, tensor<16x16xf32> {nn.param = "t"},
        tensor<4xf32> {nn.param = "b"}, tensor<4xf32> {nn.param = "d"},
        tensor<16x16xf32> {nn.metric = "p"}) {
  %ua = call @update(%a, %g) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %un = call @normalize(%n) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %ul:2 = call @late(%l, %h) : (tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
  %ut = call @transposed(%t) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %ub = call @pair(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %ud = call @pair(%d, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %ua, %un, %ul#0, %ut, %ub, %ud, %ul#1 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16x16xf32>
}
