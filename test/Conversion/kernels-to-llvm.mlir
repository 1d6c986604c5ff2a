// RUN: dist-opt %s --dist-kernels-to-llvm | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// One loop over elements; the exponential is expanded and the hint on its loop
// is the branch's own.
// CHECK-LABEL: llvm.func internal @exponential_rows(
// CHECK-SAME:    !llvm.ptr {llvm.noalias}
// CHECK-NOT:     llvm.intr.exp
// CHECK-COUNT-8: llvm.intr.fma
// CHECK:         llvm.br {{.*}} {loop_annotation = #{{.*}}}
func.func @exponential(%rank: !llvm.ptr, %x: memref<640xf32>)
    attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<640xf32> to tensor<640xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%in : tensor<640xf32>) {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  } -> tensor<640xf32>
  bufferization.materialize_in_destination %y in restrict writable %x
      : (tensor<640xf32>, memref<640xf32>) -> ()
  return
}
