// Least squares over RANKS devices, LOCAL rows each: the mean of
// (x w + b - y)^2 over ROWS rows, its gradients, one step of SGD.

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

module attributes {dist.communicators = [["dp"]], dist.flops = 96 : i64} {
dist.mesh @mesh <["dp"=RANKS]>
llvm.func @dist_all_reduce(!llvm.ptr, i32, i32, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.mlir.global internal constant @op("grads\00")

func.func @step(
    %w: tensor<3xf32> {nn.param = "w", nn.init = "normal 0.5"},
    %b: tensor<f32> {nn.param = "b", nn.init = "zeros", nn.no_decay},
    %f: tensor<2x2xf32> {nn.param = "frozen", nn.init = "ones", nn.frozen},
    %x: tensor<LOCALx3xf32> {nn.input = "x",
        dist.sharding = #dist.sharding<@mesh, [["dp"], []]>},
    %y: tensor<LOCALxf32> {nn.input = "y",
        dist.sharding = #dist.sharding<@mesh, [["dp"]]>},
    %lr: tensor<f32> {nn.lr})
    -> (tensor<3xf32> {nn.param = "w"}, tensor<f32> {nn.param = "b"},
        tensor<2x2xf32> {nn.param = "frozen"}, tensor<f32> {nn.loss},
        tensor<f32> {nn.norm}, tensor<f32> {nn.metric = "first"},
        tensor<3xf32> {nn.grad = "w"}, tensor<f32> {nn.grad = "b"}) {
  %p:3 = call @forward(%x, %y, %w, %b) : (tensor<LOCALx3xf32>, tensor<LOCALxf32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
  %r:3 = call @reduce(%p#0, %p#1, %p#2) : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
  %norm = call @norm(%r#1, %r#2) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %w1 = call @update_w(%w, %r#1, %lr) : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %b1 = call @update_b(%b, %r#2, %lr) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w1, %b1, %f, %r#0, %norm, %r#0, %r#1, %r#2 : tensor<3xf32>, tensor<f32>, tensor<2x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<f32>
}

func.func private @forward(tensor<LOCALx3xf32>, tensor<LOCALxf32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
func.func @forward_body(%rank: !llvm.ptr, %x: memref<LOCALx3xf32>,
    %y: memref<LOCALxf32>, %w: memref<3xf32>, %b: memref<f32>,
    %loss: memref<f32>, %gw: memref<3xf32>, %gb: memref<f32>,
    %workspace: memref<64xi8>) attributes {dist.segment = "forward"} {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %rows = arith.constant ROWS.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant LOCAL : index
  memref.store %zero, %loss[] : memref<f32>
  memref.store %zero, %gb[] : memref<f32>
  scf.for %j = %c0 to %c3 step %c1 {
    memref.store %zero, %gw[%j] : memref<3xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %bias = memref.load %b[] : memref<f32>
    %target = memref.load %y[%i] : memref<LOCALxf32>
    %start = arith.subf %bias, %target : f32
    %e = scf.for %j = %c0 to %c3 step %c1 iter_args(%sum = %start) -> f32 {
      %xij = memref.load %x[%i, %j] : memref<LOCALx3xf32>
      %wj = memref.load %w[%j] : memref<3xf32>
      %product = arith.mulf %xij, %wj : f32
      %next = arith.addf %sum, %product : f32
      scf.yield %next : f32
    }
    %square = arith.mulf %e, %e : f32
    %part = arith.divf %square, %rows : f32
    %l = memref.load %loss[] : memref<f32>
    %l1 = arith.addf %l, %part : f32
    memref.store %l1, %loss[] : memref<f32>
    %twice = arith.mulf %e, %two : f32
    %g = arith.divf %twice, %rows : f32
    %old = memref.load %gb[] : memref<f32>
    %new = arith.addf %old, %g : f32
    memref.store %new, %gb[] : memref<f32>
    scf.for %j = %c0 to %c3 step %c1 {
      %xij = memref.load %x[%i, %j] : memref<LOCALx3xf32>
      %d = arith.mulf %g, %xij : f32
      %gj = memref.load %gw[%j] : memref<3xf32>
      %gj1 = arith.addf %gj, %d : f32
      memref.store %gj1, %gw[%j] : memref<3xf32>
    }
  }
  return
}

func.func private @reduce(tensor<f32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
func.func @reduce_body(%rank: !llvm.ptr, %loss: memref<f32>, %gw: memref<3xf32>,
    %gb: memref<f32>, %loss1: memref<f32>, %gw1: memref<3xf32>,
    %gb1: memref<f32>, %workspace: memref<0xi8>)
    attributes {dist.segment = "reduce",
                dist.in_place = array<i64: 0, 0, 1, 1, 2, 2>} {
  memref.copy %loss, %loss1 : memref<f32> to memref<f32>
  memref.copy %gw, %gw1 : memref<3xf32> to memref<3xf32>
  memref.copy %gb, %gb1 : memref<f32> to memref<f32>
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %one = llvm.mlir.constant(1 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  %buffers = llvm.alloca %c3 x !llvm.ptr : (i32) -> !llvm.ptr
  %counts = llvm.alloca %c3 x i64 : (i32) -> !llvm.ptr
  %i0 = memref.extract_aligned_pointer_as_index %loss1 : memref<f32> -> index
  %i1 = memref.extract_aligned_pointer_as_index %gw1 : memref<3xf32> -> index
  %i2 = memref.extract_aligned_pointer_as_index %gb1 : memref<f32> -> index
  %a0 = arith.index_cast %i0 : index to i64
  %a1 = arith.index_cast %i1 : index to i64
  %a2 = arith.index_cast %i2 : index to i64
  %buffer1 = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %buffer2 = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %count1 = llvm.getelementptr %counts[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %count2 = llvm.getelementptr %counts[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %a0, %buffers : i64, !llvm.ptr
  llvm.store %a1, %buffer1 : i64, !llvm.ptr
  llvm.store %a2, %buffer2 : i64, !llvm.ptr
  llvm.store %one, %counts : i64, !llvm.ptr
  llvm.store %three, %count1 : i64, !llvm.ptr
  llvm.store %one, %count2 : i64, !llvm.ptr
  %op = llvm.mlir.addressof @op : !llvm.ptr
  llvm.call @dist_all_reduce(%rank, %c0, %c0, %c1, %c3, %buffers, %counts, %op) : (!llvm.ptr, i32, i32, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  return
}

func.func private @norm(tensor<3xf32>, tensor<f32>) -> tensor<f32>
func.func @norm_body(%rank: !llvm.ptr, %gw: memref<3xf32>, %gb: memref<f32>,
    %norm: memref<f32>, %workspace: memref<0xi8>)
    attributes {dist.segment = "norm"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %g = memref.load %gb[] : memref<f32>
  %start = arith.mulf %g, %g : f32
  %squares = scf.for %j = %c0 to %c3 step %c1 iter_args(%sum = %start) -> f32 {
    %gj = memref.load %gw[%j] : memref<3xf32>
    %square = arith.mulf %gj, %gj : f32
    %next = arith.addf %sum, %square : f32
    scf.yield %next : f32
  }
  %root = math.sqrt %squares : f32
  memref.store %root, %norm[] : memref<f32>
  return
}

// A row kernel that may not write over what it reads: the plan copies.
func.func private @update_w(tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
func.func @update_w_body(%rank: !llvm.ptr, %w: memref<3xf32>, %g: memref<3xf32>,
    %lr: memref<f32>, %w1: memref<3xf32>, %workspace: memref<0xi8>)
    attributes {dist.segment = "update_w"} {
  call @sgd(%rank, %w, %g, %lr, %w1) : (!llvm.ptr, memref<3xf32>, memref<3xf32>, memref<f32>, memref<3xf32>) -> ()
  return
}
func.func @sgd(%rank: !llvm.ptr, %w: memref<3xf32>, %g: memref<3xf32>,
    %lr: memref<f32>, %w1: memref<3xf32>) attributes {dist.kernel} {
  %tw = bufferization.to_tensor %w restrict : memref<3xf32> to tensor<3xf32>
  %tg = bufferization.to_tensor %g restrict : memref<3xf32> to tensor<3xf32>
  %tlr = bufferization.to_tensor %lr restrict : memref<f32> to tensor<f32>
  %empty = tensor.empty() : tensor<3xf32>
  %new = linalg.generic {indexing_maps = [#id, #id, #scalar, #id], iterator_types = ["parallel"]}
      ins(%tw, %tg, %tlr : tensor<3xf32>, tensor<3xf32>, tensor<f32>)
      outs(%empty : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %d = arith.mulf %c, %b : f32
    %e = arith.subf %a, %d : f32
    linalg.yield %e : f32
  } -> tensor<3xf32>
  bufferization.materialize_in_destination %new in restrict writable %w1
      : (tensor<3xf32>, memref<3xf32>) -> ()
  return
}

// In place: nothing is copied.
func.func private @update_b(tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
func.func @update_b_body(%rank: !llvm.ptr, %b: memref<f32>, %g: memref<f32>,
    %lr: memref<f32>, %b1: memref<f32>, %workspace: memref<0xi8>)
    attributes {dist.segment = "update_b", dist.in_place = array<i64: 0, 0>} {
  %old = memref.load %b[] : memref<f32>
  %gb = memref.load %g[] : memref<f32>
  %rate = memref.load %lr[] : memref<f32>
  %d = arith.mulf %rate, %gb : f32
  %new = arith.subf %old, %d : f32
  memref.store %new, %b1[] : memref<f32>
  return
}
}
