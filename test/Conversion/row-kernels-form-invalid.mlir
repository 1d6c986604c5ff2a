// RUN: dist-opt %s --dist-emit-row-kernels --split-input-file --verify-diagnostics

// What a kernel must look like before any row of it is thought of.
// expected-error @+1 {{expected one block and no results}}
func.func @results(%rank: !llvm.ptr, %x: memref<8xf32>) -> i1 attributes {dist.kernel} {
  %c = arith.constant true
  return %c : i1
}

// -----

// expected-error @+1 {{expected a linalg.generic and a result that is materialized in a buffer}}
func.func @nothing(%rank: !llvm.ptr, %x: memref<8xf32>) attributes {dist.kernel} {
  return
}

// -----

memref.global "private" constant @c : memref<8xf32> = dense<1.0>
func.func @own_buffer(%rank: !llvm.ptr, %y: memref<8xf32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %y restrict : memref<8xf32> to tensor<8xf32>
  // expected-error @+1 {{cannot be part of a row kernel}}
  %x = memref.get_global @c : memref<8xf32>
  return
}

// -----

func.func @copied(%rank: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%in : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  // expected-error @+1 {{expected the result of a linalg.generic}}
  bufferization.materialize_in_destination %in in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @squared(%rank: !llvm.ptr, %x: memref<8xf32>, %y: memref<2xf32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %empty = tensor.empty() : tensor<2xf32>
  // expected-error @+1 {{operand #0 has the map affine_map<(d0) -> (d0 floordiv 2)>, expected a linear map}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%in : tensor<8xf32>) outs(%empty : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2xf32>
  bufferization.materialize_in_destination %z in restrict writable %y : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}

// -----

func.func @empty(%rank: !llvm.ptr, %y: memref<8xf32>) attributes {dist.kernel} {
  %empty = tensor.empty() : tensor<8xf32>
  // expected-error @+1 {{reads a tensor without contents: operand #0}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%empty : tensor<8xf32>) {
  ^bb0(%o: f32):
    %s = arith.addf %o, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %z in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// expected-error @+1 {{has a workspace of type 'memref<4xi8>', expected memref<}}
func.func @small_workspace(%rank: !llvm.ptr, %x: memref<8xf32>, %y: memref<f32>, %w: memref<4xi8> {dist.workspace}) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %init = bufferization.to_tensor %y restrict : memref<f32> to tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%in : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %s in restrict writable %y : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

// Sums over a part of the columns that another sum reduces whole.
func.func @part(%rank: !llvm.ptr, %x: memref<8x4x2xf32>, %y: memref<8x4x2xf32>, %z: memref<8x4xf32>) attributes {dist.kernel} {
  %zero = arith.constant 0.0 : f32
  %in = bufferization.to_tensor %x restrict : memref<8x4x2xf32> to tensor<8x4x2xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%in : tensor<8x4x2xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<8xf32>
  %whole = tensor.empty() : tensor<8x4x2xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%in, %s : tensor<8x4x2xf32>, tensor<8xf32>) outs(%whole : tensor<8x4x2xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.divf %a, %t : f32
    linalg.yield %b : f32
  } -> tensor<8x4x2xf32>
  %empty2 = tensor.empty() : tensor<8x4xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error @+1 {{reduces some of the rows or some of the columns of its kernel; expected all}}
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d : tensor<8x4x2xf32>) outs(%init2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<8x4xf32>
  bufferization.materialize_in_destination %d in restrict writable %y : (tensor<8x4x2xf32>, memref<8x4x2xf32>) -> ()
  bufferization.materialize_in_destination %p in restrict writable %z : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  return
}

// -----

// Rows of rows and rows of columns.
func.func @two_kinds(%rank: !llvm.ptr, %x: memref<8x4xf32>, %y: memref<8x4xf32>) attributes {dist.kernel} {
  %zero = arith.constant 0.0 : f32
  %in = bufferization.to_tensor %x restrict : memref<8x4xf32> to tensor<8x4xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%in : tensor<8x4xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<8xf32>
  %empty2 = tensor.empty() : tensor<4xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reduces other dimensions than an op before it; expected one kind of row}}
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%in : tensor<8x4xf32>) outs(%init2 : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  %whole = tensor.empty() : tensor<8x4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s, %t : tensor<8xf32>, tensor<4xf32>) outs(%whole : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x4xf32>
  bufferization.materialize_in_destination %d in restrict writable %y : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  return
}

// -----

// A total that no partial results can be joined for.
func.func @difference(%rank: !llvm.ptr, %x: memref<8xf32>, %y: memref<f32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %init = bufferization.to_tensor %y restrict : memref<f32> to tensor<f32>
  // expected-error @+1 {{expected a sum, product, minimum or maximum over rows}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%in : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.subf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %s in restrict writable %y : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

// A row scalar is no result of a kernel with columns: who writes it?
func.func @scalar(%rank: !llvm.ptr, %x: memref<8x4xf32>, %v: memref<4xf32>, %y: memref<8x4xf32>, %z: memref<4xf32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8x4xf32> to tensor<8x4xf32>
  %w = bufferization.to_tensor %v restrict : memref<4xf32> to tensor<4xf32>
  %small = tensor.empty() : tensor<4xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%small : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  %whole = tensor.empty() : tensor<8x4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%in, %e : tensor<8x4xf32>, tensor<4xf32>) outs(%whole : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x4xf32>
  bufferization.materialize_in_destination %d in restrict writable %y : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  // expected-error @+1 {{expected a result with all dimensions of its kernel}}
  bufferization.materialize_in_destination %e in restrict writable %z : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// A value in registers and its transpose.
func.func @transposed(%rank: !llvm.ptr, %x: memref<4x4xf32>, %y: memref<4x4xf32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<4x4xf32> to tensor<4x4xf32>
  %empty = tensor.empty() : tensor<4x4xf32>
  // expected-error @+1 {{uses one dimension of the kernel twice}}
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%in : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  } -> tensor<4x4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%e, %e : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<4x4xf32>
  bufferization.materialize_in_destination %d in restrict writable %y : (tensor<4x4xf32>, memref<4x4xf32>) -> ()
  return
}

// -----

// One op that sums a row and everything.
func.func @two_sums(%rank: !llvm.ptr, %x: memref<8x4xf32>, %y: memref<8xf32>, %z: memref<f32>) attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict : memref<8x4xf32> to tensor<8x4xf32>
  %row = bufferization.to_tensor %y restrict : memref<8xf32> to tensor<8xf32>
  %all = bufferization.to_tensor %z restrict : memref<f32> to tensor<f32>
  // expected-error @+1 {{expected results of one shape from a reduction}}
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>], iterator_types = ["parallel", "reduction"]}
      ins(%in : tensor<8x4xf32>) outs(%row, %all : tensor<8xf32>, tensor<f32>) {
  ^bb0(%a: f32, %r: f32, %t: f32):
    %b = arith.addf %a, %r : f32
    %c = arith.addf %a, %t : f32
    linalg.yield %b, %c : f32, f32
  } -> (tensor<8xf32>, tensor<f32>)
  bufferization.materialize_in_destination %s#0 in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %s#1 in restrict writable %z : (tensor<f32>, memref<f32>) -> ()
  return
}
