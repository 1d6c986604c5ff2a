// RUN: dist-interp %s --entry normalization --print | FileCheck %s --check-prefix=NORM
// RUN: dist-interp %s --entry activations --print | FileCheck %s --check-prefix=ACT
// RUN: dist-interp %s --entry attention --f64 --print | FileCheck %s --check-prefix=ATTENTION
// RUN: dist-interp %s --entry rope --print | FileCheck %s --check-prefix=ROPE
// RUN: dist-interp %s --entry loss --print | FileCheck %s --check-prefix=LOSS
// RUN: dist-interp %s --entry indexing --print | FileCheck %s --check-prefix=INDEX
// RUN: dist-interp %s --entry layout --print | FileCheck %s --check-prefix=LAYOUT
// RUN: dist-interp %s --entry random --print | FileCheck %s --check-prefix=RANDOM

// One case by hand of each family; NumPy has all of them.
// NORM: result0 = [0.5, 0.5]
// NORM-NEXT: result1 = [0.25, 0.75]
// NORM-NEXT: result2 = [-0.693147, -0.693147]
// NORM-NEXT: result3 = [-1, 3]
// NORM-NEXT: result4 = [0.6, 0.8]
func.func @normalization() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %log3 = arith.constant dense<[0.0, 1.09861229]> : tensor<2xf32>
  %x = arith.constant dense<[-5.0, 5.0]> : tensor<2xf32>
  %g = arith.constant dense<[2.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %y = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %root = arith.constant dense<0.70710677> : tensor<2xf32>
  %0 = nn.softmax %zero {dim = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = nn.softmax %log3 {dim = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = nn.log_softmax %zero {dim = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = nn.layer_norm %x, %g, %b {eps = 0.0 : f32} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = nn.rms_norm %y, %root {eps = 0.0 : f32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// ACT: result0 = [-0, 0, 30]
// ACT-NEXT: result1 = [-0, 0, 30]
// ACT-NEXT: result2 = [0, 0, 30]
// ACT-NEXT: result3 = [{{[0-9.]+}}e-14, 0.5, 1]
func.func @activations() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = arith.constant dense<[-30.0, 0.0, 30.0]> : tensor<3xf32>
  %0 = nn.gelu %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = nn.gelu %x {approximate = "tanh"} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = nn.relu %x : (tensor<3xf32>) -> tensor<3xf32>
  %3 = nn.sigmoid %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// With equal scores a row is the mean of what it sees: all before it, the last
// two, its own segment; none of 0 where nothing is seen.
// ATTENTION: result0 = {{\[\[\[\[}}3], [4.5], [6]]]]
// ATTENTION-NEXT: result1 = {{\[\[\[\[}}3], [4.5], [7.5]]]]
// ATTENTION-NEXT: result2 = {{\[\[\[\[}}4.5], [4.5], [9]]]]
// ATTENTION-NEXT: result3 = {{\[\[\[\[}}3], [3], [0]]]]
func.func @attention() -> (tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>) {
  %q = arith.constant dense<0.0> : tensor<1x1x3x1xf32>
  %v = arith.constant dense<[[[[3.0], [6.0], [9.0]]]]> : tensor<1x1x3x1xf32>
  %k1 = arith.constant dense<0.0> : tensor<1x1x1x1xf32>
  %v1 = arith.constant dense<3.0> : tensor<1x1x1x1xf32>
  %ids = arith.constant dense<[[0, 0, 1]]> : tensor<1x3xi32>
  %0 = nn.attention %q, %q, %v {causal, scale = 1.0 : f32} : (tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x3x1xf32>
  %1 = nn.attention %q, %q, %v {causal, scale = 1.0 : f32, window = 2 : i64} : (tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x3x1xf32>
  %2 = nn.attention %q, %q, %v segment_ids(%ids) {scale = 1.0 : f32} : (tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x3xi32>) -> tensor<1x1x3x1xf32>
  %3 = nn.attention %q, %k1, %v1 {causal, scale = 1.0 : f32, window = 2 : i64} : (tensor<1x1x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x1xf32>
  return %0, %1, %2, %3 : tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>
}

// At position 0 nothing turns; what is not turned stays.
// ROPE: result0 = {{\[\[\[\[}}1, 2, 3, 4]]]]
// ROPE-NEXT: result1 = {{\[\[\[\[}}-1.14264, 1.92208, 3, 4]]]]
func.func @rope() -> (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) {
  %x = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0]]]]> : tensor<1x1x1x4xf32>
  %zero = arith.constant dense<0> : tensor<1xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  %0 = nn.rope %x, %zero {theta = 1.0e4 : f32} : (tensor<1x1x1x4xf32>, tensor<1xi32>) -> tensor<1x1x1x4xf32>
  %1 = nn.rope %x, %one {theta = 1.0e4 : f32, dims = 2 : i64} : (tensor<1x1x1x4xf32>, tensor<1xi32>) -> tensor<1x1x1x4xf32>
  return %0, %1 : tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>
}

// LOSS: result0 = {{\[\[}}5, 6], [1, 2]]
// LOSS-NEXT: result1 = [0.693147, 0]
// LOSS-NEXT: result2 = {{\[\[}}2, 0], [0, 0], [5, 1]]
func.func @loss() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>) {
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %ids = arith.constant dense<[2, 0]> : tensor<2xi32>
  %0 = nn.embedding %table, %ids : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %logits = arith.constant dense<0.0> : tensor<2x2xf32>
  %labels = arith.constant dense<[1, -1]> : tensor<2xi32>
  %1 = nn.cross_entropy %logits, %labels {ignore_index = -1 : i64} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2xf32>
  %many = arith.constant dense<[2, 0, 2]> : tensor<3xi32>
  %updates = arith.constant dense<[[1.0, 1.0], [2.0, 0.0], [4.0, 0.0]]> : tensor<3x2xf32>
  %2 = nn.embedding_grad %many, %updates : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>
}

// INDEX: result0 = {{\[\[}}2, 1], [5, 4]]
// INDEX-NEXT: result1 = {{\[\[}}3], [4]]
// INDEX-NEXT: result2 = {{\[\[}}1, 2, 13], [24, 5, 6]]
// INDEX-NEXT: result3 = [2, 2]
// INDEX-NEXT: result4 = {{\[\[}}0, 0], [1, 1]]
func.func @indexing() -> (tensor<2x2xi32>, tensor<2x1xi32>, tensor<2x3xf32>, tensor<2xi32>, tensor<2x2xi32>) {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %ids = arith.constant dense<[1, 0]> : tensor<2xi32>
  %at = arith.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %f = arith.sitofp %x : tensor<2x3xi32> to tensor<2x3xf32>
  %more = arith.constant dense<[[10.0], [20.0]]> : tensor<2x1xf32>
  %0 = nn.take %x, %ids {dim = 1 : i64} : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  %1 = nn.gather %x, %at {dim = 1 : i64} : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  %2 = nn.scatter_add %f, %at, %more {dim = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %3 = nn.argmax %x {dim = 1 : i64} : (tensor<2x3xi32>) -> tensor<2xi32>
  %4 = nn.iota {dim = 0 : i64} : () -> tensor<2x2xi32>
  return %0, %1, %2, %3, %4 : tensor<2x2xi32>, tensor<2x1xi32>, tensor<2x3xf32>, tensor<2xi32>, tensor<2x2xi32>
}

// LAYOUT: result0 = [2, 4]
// LAYOUT-NEXT: result1 = [9, 1, 9, 2, 9, 3, 9, 4]
// LAYOUT-NEXT: result2 = [1, 2, 3, 4, 2, 4]
// LAYOUT-NEXT: result3 = [4, 3, 2, 1]
// LAYOUT-NEXT: result4 = {{\[\[}}1, 2], [3, 4]]
func.func @layout() -> (tensor<2xi32>, tensor<8xi32>, tensor<6xi32>, tensor<4xi32>, tensor<2x2xi32>) {
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = nn.slice %x {starts = array<i64: 1>, limits = array<i64: 4>, strides = array<i64: 2>} : (tensor<4xi32>) -> tensor<2xi32>
  %1 = nn.pad %x {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 1>, value = 9 : i32} : (tensor<4xi32>) -> tensor<8xi32>
  %2 = nn.concat %x, %0 {dim = 0 : i64} : (tensor<4xi32>, tensor<2xi32>) -> tensor<6xi32>
  %3 = nn.reverse %x {dims = array<i64: 0>} : (tensor<4xi32>) -> tensor<4xi32>
  %4 = nn.reshape %x : (tensor<4xi32>) -> tensor<2x2xi32>
  return %0, %1, %2, %3, %4 : tensor<2xi32>, tensor<8xi32>, tensor<6xi32>, tensor<4xi32>, tensor<2x2xi32>
}

// Words of the published Philox answer for counter 0 and key 0 decide: 6627e8d5,
// e169c58d, bc57ac4c, 9b00dbd8. One half keeps what is below 80000000.
// RANDOM: result0 = [2, 0, 0, 0]
// RANDOM-NEXT: result1 = [1, 1, 1, 1]
func.func @random() -> (tensor<4xf32>, tensor<4xf32>) {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %key = arith.constant dense<0> : tensor<2xi32>
  %0 = nn.dropout %x, %key {rate = 0.5 : f32} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  %1 = nn.dropout %x, %key {rate = 0.0 : f32} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
