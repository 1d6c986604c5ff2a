// RUN: dist-opt %s --dist-emit-row-kernels --split-input-file --verify-diagnostics

#id = affine_map<(d0) -> (d0)>

// c1
// expected-error @+1 {{expected the rank, an !llvm.ptr, as its first argument}}
func.func @no_rank(%x: memref<8xf32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%in : tensor<8xf32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %y in restrict writable %x
      : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// c2
// expected-error @+1 {{expected a workspace argument, memref<64xi8> {dist.workspace}}}
func.func @no_workspace(%rank: !llvm.ptr, %x: memref<8xf32>, %y: memref<f32>)
    attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %init = bufferization.to_tensor %y restrict : memref<f32> to tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #none],
                       iterator_types = ["reduction"]}
      ins(%in : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %s in restrict writable %y
      : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// c4: the row sum would be of the new values
func.func @late_read(%rank: !llvm.ptr, %x: memref<8x4xf32>, %y: memref<8x4xf32>)
    attributes {dist.kernel} {
  %zero = arith.constant 0.0 : f32
  %in = bufferization.to_tensor %x restrict : memref<8x4xf32> to tensor<8x4xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>)
      -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%in : tensor<8x4xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<8xf32>
  %double = linalg.generic {indexing_maps = [#id],
                            iterator_types = ["parallel", "parallel"]}
      outs(%in : tensor<8x4xf32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<8x4xf32>
  %z = linalg.generic {indexing_maps = [#row, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8xf32>) outs(%in : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x4xf32>
  // expected-error @+1 {{overwrites a buffer that the kernel reads later}}
  bufferization.materialize_in_destination %double in restrict writable %x
      : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  bufferization.materialize_in_destination %z in restrict writable %y
      : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @dynamic(%rank: !llvm.ptr, %x: memref<?xf32>)
    attributes {dist.kernel} {
  // expected-error @+1 {{expected a buffer of static shape, strides and offset, got 'memref<?xf32>'}}
  %in = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  return
}

// -----

func.func @other(%rank: !llvm.ptr, %x: memref<4xf32>) attributes {dist.kernel} {
  // expected-error @+1 {{cannot be part of a row kernel}}
  memref.dealloc %x : memref<4xf32>
  return
}
