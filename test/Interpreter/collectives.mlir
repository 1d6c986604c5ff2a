// RUN: dist-interp %s --entry reductions --print | FileCheck %s --check-prefix=REDUCE
// RUN: dist-interp %s --entry blocks --print | FileCheck %s --check-prefix=BLOCKS
// RUN: dist-interp %s --entry exchanges --print | FileCheck %s --check-prefix=EXCHANGE

// Ranks are (x, y) = 00, 01, 10, 11; a value that differs is gathered to show.
dist.mesh @mesh <["x"=2, "y"=2]>

// The ranks hold 0, 1, 2, 3.
// REDUCE: result0 = [0, 1, 2, 3]
// REDUCE-NEXT: result1 = [2, 4]
// REDUCE-NEXT: result2 = [1, 3]
// REDUCE-NEXT: result3 = 6
// REDUCE-NEXT: result4 = 12
func.func @reductions() -> (tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>) {
  %rank = dist.axis_index over ["x", "y"] : tensor<i32>
  %r = nn.reshape %rank : (tensor<i32>) -> tensor<1xi32>
  %all = dist.all_gather %r over ["x", "y"] {dim = 0 : i64} : (tensor<1xi32>) -> tensor<4xi32>
  %sum = dist.all_reduce sum %r over ["x"] : (tensor<1xi32>) -> tensor<1xi32>
  %sums = dist.all_gather %sum over ["y"] {dim = 0 : i64} : (tensor<1xi32>) -> tensor<2xi32>
  %max = dist.all_reduce max %r over ["y"] : (tensor<1xi32>) -> tensor<1xi32>
  %maxs = dist.all_gather %max over ["x"] {dim = 0 : i64} : (tensor<1xi32>) -> tensor<2xi32>
  %double = arith.addi %rank, %rank : tensor<i32>
  %both:2 = dist.all_reduce sum %rank, %double over ["x", "y"] : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return %all, %sums, %maxs, %both#0, %both#1 : tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>
}

// Five elements over two axes of two lie as 2, 1, 2, 0.
// BLOCKS: result0 = [1, 2, 3, 4, 5]
// BLOCKS-NEXT: result1 = [2, 4, 6]
// BLOCKS-NEXT: result2 = [1, 2, 3]
func.func @blocks() -> (tensor<5xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %local = dist.slice %x over ["x", "y"] {dim = 0 : i64} : (tensor<5xf32>) -> tensor<2xf32>
  %again = dist.all_gather %local over ["x", "y"] {dim = 0 : i64} : (tensor<2xf32>) -> tensor<5xf32>
  %y = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %scattered = dist.reduce_scatter sum %y over ["x"] {dim = 0 : i64} : (tensor<3xf32>) -> tensor<2xf32>
  %sum = dist.all_gather %scattered over ["x"] {dim = 0 : i64} : (tensor<2xf32>) -> tensor<3xf32>
  %once = dist.contribute %y over ["y"] : (tensor<3xf32>) -> tensor<3xf32>
  %counted = dist.all_reduce sum %once over ["y"] : (tensor<3xf32>) -> tensor<3xf32>
  return %again, %sum, %counted : tensor<5xf32>, tensor<3xf32>, tensor<3xf32>
}

// EXCHANGE: result0 = {{\[\[}}1, 2, 3, 4], [5, 6, 7, 8]]
// EXCHANGE-NEXT: result1 = [0, 0]
// EXCHANGE-NEXT: result2 = [0, 1]
func.func @exchanges() -> (tensor<2x4xi32>, tensor<2xi32>, tensor<2xi32>) {
  %x = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  %rows = dist.slice %x over ["x"] {dim = 0 : i64} : (tensor<2x4xi32>) -> tensor<1x4xi32>
  %columns = dist.all_to_all %rows over ["x"] {split = 1 : i64, concat = 0 : i64} : (tensor<1x4xi32>) -> tensor<2x2xi32>
  %whole = dist.all_gather %columns over ["x"] {dim = 1 : i64} : (tensor<2x2xi32>) -> tensor<2x4xi32>
  %index = dist.axis_index over ["y"] : tensor<i32>
  %i = nn.reshape %index : (tensor<i32>) -> tensor<1xi32>
  %to_second = dist.permute %i over ["y"] {pairs = array<i64: 0, 1>} : (tensor<1xi32>) -> tensor<1xi32>
  %p = dist.all_gather %to_second over ["y"] {dim = 0 : i64} : (tensor<1xi32>) -> tensor<2xi32>
  %ring = dist.permute %i over ["y"] {pairs = array<i64: 0, 0, 1, 1>} : (tensor<1xi32>) -> tensor<1xi32>
  %q = dist.all_gather %ring over ["y"] {dim = 0 : i64} : (tensor<1xi32>) -> tensor<2xi32>
  return %whole, %p, %q : tensor<2x4xi32>, tensor<2xi32>, tensor<2xi32>
}
