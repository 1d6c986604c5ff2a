// Ops that depend on global positions compute their block of the whole.
//
// RUN: split-file %s %t
// RUN: dist-interp %t/local.mlir --f64 --against %t/whole.mlir --tolerance 1e-13 | FileCheck %s
// RUN: dist-interp %t/local.mlir --against %t/whole.mlir --tolerance 1e-6 | FileCheck %s
// RUN: not dist-interp %t/misplaced.mlir --f64 --against %t/whole.mlir | FileCheck %s --check-prefix=MISPLACED

// CHECK: loss: 0
// CHECK-NEXT: positions: 0
// CHECK-NEXT: dropped: 0
// CHECK-NEXT: rows: 0
// CHECK-NEXT: table_grad: 0
// CHECK-NEXT: mixed: {{0|[0-9.]+e-[0-9]+}}
// CHECK-NEXT: dq: {{0|[0-9.]+e-[0-9]+}}
// CHECK-NEXT: picked: 0
// CHECK-NOT: over

// MISPLACED: dropped: {{.*}} over the tolerance

//--- whole.mlir
func.func @loss(%x: tensor<4x8xf32> {nn.input = "x"}, %key: tensor<2xi32> {nn.key},
    %table: tensor<8x4xf32> {nn.param = "table", nn.init = "normal 1"},
    %ids: tensor<4x3xi32> {nn.input = "ids"}, %dy: tensor<4x3x4xf32> {nn.input = "dy"},
    %q: tensor<2x4x3x4xf32> {nn.input = "q"}, %lse: tensor<2x4x3xf32> {nn.input = "lse"}, %labels: tensor<4xi32> {nn.input = "labels"})
    -> (tensor<f32>, tensor<4x8xi32> {nn.metric = "positions"}, tensor<4x8xf32> {nn.metric = "dropped"},
        tensor<4x3x4xf32> {nn.metric = "rows"}, tensor<8x4xf32> {nn.metric = "table_grad"},
        tensor<2x4x3x4xf32> {nn.metric = "mixed"}, tensor<2x4x3x4xf32> {nn.metric = "dq"}, tensor<4xf32> {nn.metric = "picked"}) {
  %loss = arith.constant dense<0.0> : tensor<f32>
  %positions = nn.iota {dim = 1 : i64} : () -> tensor<4x8xi32>
  %dropped = nn.dropout %x, %key {rate = 0.5 : f32} : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<4x8xf32>
  %rows = nn.embedding %table, %ids : (tensor<8x4xf32>, tensor<4x3xi32>) -> tensor<4x3x4xf32>
  %table_grad = nn.embedding_grad %ids, %dy : (tensor<4x3xi32>, tensor<4x3x4xf32>) -> tensor<8x4xf32>
  %mixed = nn.attention %q, %q, %q key(%key) {causal, scale = 0.5 : f32, dropout = 0.5 : f32} : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2xi32>) -> tensor<2x4x3x4xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %q key(%key) {causal, scale = 0.5 : f32, dropout = 0.5 : f32} : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3xf32>, tensor<2x4x3x4xf32>, tensor<2xi32>) -> (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>)
  // The logit of the label, as cross-entropy finds it.
  %wanted = nn.repeat "b -> b v"(%labels) : (tensor<4xi32>) -> tensor<4x8xi32>
  %is_label = arith.cmpi eq, %positions, %wanted : tensor<4x8xi32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %logit = arith.select %is_label, %x, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %picked = nn.reduce sum "b v -> b"(%logit) : (tensor<4x8xf32>) -> tensor<4xf32>
  return %loss, %positions, %dropped, %rows, %table_grad, %mixed, %dq, %picked : tensor<f32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x3x4xf32>, tensor<8x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<4xf32>
}

//--- local.mlir
// Rows over dp, columns, heads and the table's rows over tp.
module attributes {dist.phase = "local"} {
  dist.mesh @mesh <["dp"=2, "tp"=2]>
  func.func @loss(%x: tensor<2x4xf32> {nn.input = "x", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>}, %key: tensor<2xi32> {nn.key},
      %table: tensor<4x4xf32> {nn.param = "table", nn.init = "normal 1", dist.sharding = #dist.sharding<@mesh, [["tp"], []]>},
      %ids: tensor<4x3xi32> {nn.input = "ids"}, %dy: tensor<4x3x4xf32> {nn.input = "dy"},
      %q: tensor<1x2x3x4xf32> {nn.input = "q", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>},
      %lse: tensor<1x2x3xf32> {nn.input = "lse", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"], []]>},
      %labels: tensor<2xi32> {nn.input = "labels", dist.sharding = #dist.sharding<@mesh, [["dp"]]>})
      -> (tensor<f32>, tensor<2x4xi32> {nn.metric = "positions", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>},
          tensor<2x4xf32> {nn.metric = "dropped", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>},
          tensor<4x3x4xf32> {nn.metric = "rows"},
          tensor<4x4xf32> {nn.metric = "table_grad", dist.sharding = #dist.sharding<@mesh, [["tp"], []]>},
          tensor<1x2x3x4xf32> {nn.metric = "mixed", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>},
          tensor<1x2x3x4xf32> {nn.metric = "dq", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"], [], []]>},
          tensor<2xf32> {nn.metric = "picked", dist.sharding = #dist.sharding<@mesh, [["dp"]]>}) {
    %loss = arith.constant dense<0.0> : tensor<f32>
    %positions = nn.iota {dim = 1 : i64, place = #dist.place<@mesh, [["dp"], ["tp"]], [4, 8]>} : () -> tensor<2x4xi32>
    %dropped = nn.dropout %x, %key {rate = 0.5 : f32, place = #dist.place<@mesh, [["dp"], ["tp"]], [4, 8]>} : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
    %part = nn.embedding %table, %ids {place = #dist.place<@mesh, [["tp"], []], [8, 4]>} : (tensor<4x4xf32>, tensor<4x3xi32>) -> tensor<4x3x4xf32>
    %rows = dist.all_reduce sum %part over ["tp"] : (tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %table_grad = nn.embedding_grad %ids, %dy {place = #dist.place<@mesh, [["tp"], []], [8, 4]>} : (tensor<4x3xi32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %mixed = nn.attention %q, %q, %q key(%key) {causal, scale = 0.5 : f32, dropout = 0.5 : f32, place = #dist.place<@mesh, [["dp"], ["tp"], [], []], [2, 4, 3, 3]>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2xi32>) -> tensor<1x2x3x4xf32>
    %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %q key(%key) {causal, scale = 0.5 : f32, dropout = 0.5 : f32, place = #dist.place<@mesh, [["dp"], ["tp"], [], []], [2, 4, 3, 3]>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3x4xf32>, tensor<2xi32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
    %wanted = nn.repeat "b -> b v"(%labels) : (tensor<2xi32>) -> tensor<2x4xi32>
    %is_label = arith.cmpi eq, %positions, %wanted : tensor<2x4xi32>
    %zero = arith.constant dense<0.0> : tensor<2x4xf32>
    %logit = arith.select %is_label, %x, %zero : tensor<2x4xi1>, tensor<2x4xf32>
    %own = nn.reduce sum "b v -> b"(%logit) : (tensor<2x4xf32>) -> tensor<2xf32>
    %picked = dist.all_reduce sum %own over ["tp"] : (tensor<2xf32>) -> tensor<2xf32>
    return %loss, %positions, %dropped, %rows, %table_grad, %mixed, %dq, %picked : tensor<f32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<4x3x4xf32>, tensor<4x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2xf32>
  }
}

//--- misplaced.mlir
module attributes {dist.phase = "local"} {
  dist.mesh @mesh <["dp"=2, "tp"=2]>
  func.func @loss(%x: tensor<2x4xf32> {nn.input = "x", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>}, %key: tensor<2xi32> {nn.key})
      -> (tensor<f32>, tensor<2x4xf32> {nn.metric = "dropped", dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"]]>}) {
    %loss = arith.constant dense<0.0> : tensor<f32>
    %dropped = nn.dropout %x, %key {rate = 0.5 : f32} : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
    return %loss, %dropped : tensor<f32>, tensor<2x4xf32>
  }
}
