// RUN: dist-opt %s --dist-lower-segments --split-input-file | FileCheck %s

// Blocks of the outermost dimension lie one behind the other as they are; what
// comes in is laid side by side along the other dimension.
// CHECK-LABEL: func.func @exchange_body(
// CHECK-NOT:     call @kernel
// CHECK:         llvm.call @dist_all_to_all
// CHECK:         call @kernel_0(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, memref<2x2x4xf32, strided<[4, 8, 1]>>, memref<2x2x4xf32>)
dist.mesh @mesh <["tp"=2]>
func.func private @exchange(%x: tensor<4x4xf32>) -> tensor<2x8xf32> {
  %y = dist.all_to_all %x over ["tp"] {split = 0 : i64, concat = 1 : i64} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The other way round what goes out is packed first.
// CHECK-LABEL: func.func @back_body(
// CHECK:         call @kernel_{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, memref<2x2x4xf32{{.*}}>, memref<2x2x4xf32{{.*}}>)
// CHECK:         llvm.call @dist_all_to_all
// CHECK-NOT:     call @kernel
// CHECK:         return
func.func private @back(%x: tensor<2x8xf32>) -> tensor<4x4xf32> {
  %y = dist.all_to_all %x over ["tp"] {split = 1 : i64, concat = 0 : i64} : (tensor<2x8xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The pairs are numbers of 32 bits, two a word: 0 to 1, 1 to 0.
// CHECK:       llvm.mlir.global internal constant @words_{{[0-9]+}}(dense<[4294967296, 1]>
// CHECK-LABEL: func.func @shift_body(
// CHECK:         llvm.call @dist_permute
dist.mesh @mesh <["tp"=2]>
func.func private @shift(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = dist.permute %x over ["tp"] {pairs = array<i64: 0, 1, 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The place in a part of an axis: the position in the axis, without the parts
// before and behind.
// CHECK-LABEL: func.func @part_body(
// CHECK:         %[[AT:.*]] = llvm.call @dist_axis_index
// CHECK:         %[[MAJOR:.*]] = arith.divui %[[AT]], %c2
// CHECK:         arith.remui %[[MAJOR]], %c2
dist.mesh @mesh <["tp"=8]>
func.func private @part(%x: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %y = dist.slice %x over ["tp":(2)2] {dim = 0 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
