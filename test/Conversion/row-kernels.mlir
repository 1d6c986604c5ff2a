// RUN: dist-opt %s --dist-emit-row-kernels --canonicalize --cse --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Three sweeps; exp and its sum share one, and exp waits in the row of y.
// CHECK-LABEL: func.func @softmax(
// CHECK:         call @softmax_rows({{.*}}) {dist.grain = {{[0-9]+}} : i64}
// CHECK-LABEL: func.func private @softmax_rows(
// CHECK-SAME:    %[[X:.*]]: memref<64x96xf32> {llvm.noalias}, %[[Y:.*]]: memref<64x96xf32> {llvm.noalias}
// CHECK:         %[[M:.*]] = scf.for
// CHECK:           arith.maximumf {{.*}} fastmath<reassoc,nnan,nsz>
// CHECK:         %[[S:.*]] = scf.for
// CHECK:           %[[E:.*]] = math.exp
// CHECK:           arith.addf %[[E]], {{.*}} fastmath<reassoc,nsz,contract>
// CHECK:           memref.store %[[E]], %[[ROWS:.*]][
// CHECK:         scf.for
// CHECK-NEXT:      arith
// CHECK:           memref.load %[[ROWS]][
// CHECK-NEXT:      arith.divf {{.*}}, %[[S]]
func.func @softmax(%rank: !llvm.ptr, %x: memref<64x96xf32>,
                   %y: memref<64x96xf32>) attributes {dist.kernel} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %in = bufferization.to_tensor %x restrict
      : memref<64x96xf32> to tensor<64x96xf32>
  %row = tensor.empty() : tensor<64xf32>
  %all = tensor.empty() : tensor<64x96xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%row : tensor<64xf32>)
      -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%in : tensor<64x96xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %max = arith.maximumf %a, %acc : f32
    linalg.yield %max : f32
  } -> tensor<64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%in, %m : tensor<64x96xf32>, tensor<64xf32>)
      outs(%all : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %exp = math.exp %d : f32
    linalg.yield %exp : f32
  } -> tensor<64x96xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%row : tensor<64xf32>)
      -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<64x96xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %sum = arith.addf %a, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<64xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<64x96xf32>, tensor<64xf32>)
      outs(%all : tensor<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<64x96xf32>
  bufferization.materialize_in_destination %z in restrict writable %y
      : (tensor<64x96xf32>, memref<64x96xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// The sum over rows: one partial a block of rows, added in order by the caller.
// CHECK-LABEL: func.func @bias_gradient(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %{{.*}}: {{.*}}, %[[DB:.*]]: memref<96xf32>, %[[WS:.*]]: memref<6144xi8>)
// CHECK:         call @bias_gradient_rows({{.*}}, %[[WS]], {{.*}}) {dist.grain = 1 : i64}
// CHECK:         scf.for
// CHECK:           memref.store %cst{{.*}}, %[[DB]]
// CHECK:         scf.for %[[BLOCK:.*]] =
// CHECK:           arith.addf
// CHECK:           memref.store %{{.*}}, %[[DB]]
// CHECK-LABEL: func.func private @bias_gradient_rows(
// CHECK:         scf.for %[[BLOCK:.*]] = %{{.*}} to
// CHECK:           memref.store %cst
func.func @bias_gradient(%rank: !llvm.ptr, %dy: memref<4096x96xf32>,
                         %db: memref<96xf32>,
                         %workspace: memref<6144xi8> {dist.workspace})
    attributes {dist.kernel} {
  %zero = arith.constant 0.0 : f32
  %in = bufferization.to_tensor %dy restrict
      : memref<4096x96xf32> to tensor<4096x96xf32>
  %empty = tensor.empty() : tensor<96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<96xf32>)
      -> tensor<96xf32>
  %sum = linalg.generic {indexing_maps = [#id, #col],
                         iterator_types = ["reduction", "parallel"]}
      ins(%in : tensor<4096x96xf32>) outs(%init : tensor<96xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  bufferization.materialize_in_destination %sum in restrict writable %db
      : (tensor<96xf32>, memref<96xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#head = affine_map<(d0, d1, d2) -> (d1, d2)>

// Rows of a strided view: batch and sequence walk through x as one, and through
// the table they do not.
// CHECK-LABEL: func.func private @add_positions_rows(
// CHECK:         scf.for %[[R:.*]] =
// CHECK:           %[[S:.*]] = arith.remui %[[R]], %c8
// CHECK:           %[[B:.*]] = arith.divui %[[R]], %c8
// CHECK:           scf.for %[[J:.*]] =
func.func @add_positions(%rank: !llvm.ptr,
                         %x: memref<4x8x32xf32, strided<[320, 40, 1], offset: 8>>,
                         %t: memref<8x32xf32>, %y: memref<4x8x32xf32>)
    attributes {dist.kernel} {
  %in = bufferization.to_tensor %x restrict
      : memref<4x8x32xf32, strided<[320, 40, 1], offset: 8>> to tensor<4x8x32xf32>
  %table = bufferization.to_tensor %t restrict
      : memref<8x32xf32> to tensor<8x32xf32>
  %empty = tensor.empty() : tensor<4x8x32xf32>
  %sum = linalg.generic {indexing_maps = [#id, #head, #id],
                         iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%in, %table : tensor<4x8x32xf32>, tensor<8x32xf32>)
      outs(%empty : tensor<4x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8x32xf32>
  bufferization.materialize_in_destination %sum in restrict writable %y
      : (tensor<4x8x32xf32>, memref<4x8x32xf32>) -> ()
  return
}

// The derivative of a maximum asks which elements are equal to it, in a later
// sweep, which computes them again: both sweeps must round alike. The sum in
// front is computed once.
// CHECK-LABEL: func.func @is_largest
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             arith.addf {{.*}} fastmath
// CHECK:           scf.for
// CHECK:             arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:             arith.maximumf
// CHECK:           scf.for
// CHECK:             arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:             arith.cmpf oeq
func.func @is_largest(%rank: !llvm.ptr, %x: memref<64x32xf32>, %y: memref<64x32xi1>) attributes {dist.kernel} {
  %xt = bufferization.to_tensor %x restrict : memref<64x32xf32> to tensor<64x32xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<64xf32>
  %e2 = tensor.empty() : tensor<64x32xf32>
  %e3 = tensor.empty() : tensor<64x32xi1>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %i2 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%xt : tensor<64x32xf32>) outs(%i1 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%xt, %s : tensor<64x32xf32>, tensor<64xf32>) outs(%e2 : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<64x32xf32>) outs(%i2 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maximumf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %m : tensor<64x32xf32>, tensor<64xf32>) outs(%e3 : tensor<64x32xi1>) {
  ^bb0(%a: f32, %b: f32, %o: i1):
    %t = arith.cmpf oeq, %a, %b : f32
    linalg.yield %t : i1
  } -> tensor<64x32xi1>
  bufferization.materialize_in_destination %q in restrict writable %y : (tensor<64x32xi1>, memref<64x32xi1>) -> ()
  return
}
