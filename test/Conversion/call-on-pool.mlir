// RUN: dist-opt %s --dist-call-on-pool --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @caller(
// CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr)
// CHECK:         %[[ARGS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr)>
// CHECK:         llvm.store %[[X]]
// CHECK:         %[[TASK:.*]] = llvm.mlir.addressof @rows_task
// CHECK:         llvm.call @dist_parallel_for(%[[RANK]], %[[TASK]], %[[ARGS]], %{{.*}}, %{{.*}})
// CHECK:         llvm.call @rows(%[[X]]
// CHECK-LABEL: llvm.func internal @rows_task(
// CHECK-SAME:    %[[PACKED:.*]]: !llvm.ptr, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK:         %[[FIELD:.*]] = llvm.load
// CHECK:         llvm.call @rows(%[[FIELD]], %[[LO]], %[[HI]])
llvm.func @caller(%rank: !llvm.ptr, %x: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %many = llvm.mlir.constant(100 : i64) : i64
  %few = llvm.mlir.constant(8 : i64) : i64
  llvm.call @rows(%x, %zero, %many) {dist.grain = 8 : i64}
      : (!llvm.ptr, i64, i64) -> ()
  // One task is no task.
  llvm.call @rows(%x, %zero, %few) {dist.grain = 8 : i64}
      : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @rows(%x: !llvm.ptr, %lo: i64, %hi: i64) {
  llvm.return
}

// -----

// expected-error @+1 {{expected the rank, an !llvm.ptr, as its first argument}}
llvm.func @no_rank() {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %many = llvm.mlir.constant(100 : i64) : i64
  llvm.call @rows(%zero, %many) {dist.grain = 8 : i64} : (i64, i64) -> ()
  llvm.return
}
llvm.func internal @rows(%lo: i64, %hi: i64) {
  llvm.return
}
