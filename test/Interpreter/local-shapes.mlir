// Arguments are cut by their sharding, results are put together by theirs.
//
// RUN: split-file %s %t
// RUN: dist-interp %t/local.mlir --f64 --against %t/whole.mlir | FileCheck %s
// RUN: dist-interp %t/whole.mlir --f64 --against %t/whole.mlir | FileCheck %s
// RUN: not dist-interp %t/forgotten.mlir --f64 --against %t/whole.mlir 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// RUN: not dist-interp %t/wrong.mlir --f64 --against %t/whole.mlir | FileCheck %s --check-prefix=WRONG

// CHECK: loss: {{0|[0-9.]+e-[0-9]+$}}
// CHECK-NEXT: y: {{0|[0-9.]+e-[0-9]+$}}
// CHECK-NOT: over

// A sum that nobody finished differs between replicas.
// FORGOTTEN: error: result 'loss' differs between ranks 0 and 1, which hold the same block

// WRONG: loss: {{.*}} over the tolerance
// WRONG-NEXT: y: 0{{$}}

//--- whole.mlir
func.func @loss(%x: tensor<4x6xf32> {nn.input = "x"}, %w: tensor<6x4xf32> {nn.param = "w", nn.init = "normal 1"})
    -> (tensor<f32>, tensor<4x4xf32> {nn.metric = "y"}) {
  %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %loss = nn.reduce sum "b e ->"(%y) : (tensor<4x4xf32>) -> tensor<f32>
  return %loss, %y : tensor<f32>, tensor<4x4xf32>
}

//--- local.mlir
module attributes {dist.phase = "local"} {
  dist.mesh @mesh <["dp"=2, "tp"=2]>
  // The columns of w are stored as heads.
  func.func @loss(%x: tensor<2x6xf32> {nn.input = "x", dist.sharding = #dist.sharding<@mesh, [["dp"], []]>},
                  %w: tensor<6x1x2xf32> {nn.param = "w", nn.init = "normal 1", dist.logical = "d (h k)",
                                         dist.sharding = #dist.sharding<@mesh, [[], ["tp"], []]>})
      -> (tensor<f32>, tensor<2x1x2xf32> {nn.metric = "y", dist.logical = "b (h k)",
                                          dist.sharding = #dist.sharding<@mesh, [["dp"], ["tp"], []]>}) {
    %y = nn.einsum "b d, d h k -> b h k"(%x, %w) : (tensor<2x6xf32>, tensor<6x1x2xf32>) -> tensor<2x1x2xf32>
    %part = nn.reduce sum "b h k ->"(%y) : (tensor<2x1x2xf32>) -> tensor<f32>
    %loss = dist.all_reduce sum %part over ["dp", "tp"] : (tensor<f32>) -> tensor<f32>
    return %loss, %y : tensor<f32>, tensor<2x1x2xf32>
  }
}

//--- forgotten.mlir
module attributes {dist.phase = "local"} {
  dist.mesh @mesh <["tp"=2]>
  func.func @loss(%x: tensor<4x6xf32> {nn.input = "x"},
                  %w: tensor<6x2xf32> {nn.param = "w", dist.sharding = #dist.sharding<@mesh, [[], ["tp"]]>})
      -> (tensor<f32>, tensor<4x2xf32> {nn.metric = "y", dist.sharding = #dist.sharding<@mesh, [[], ["tp"]]>}) {
    %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
    %loss = nn.reduce sum "b e ->"(%y) : (tensor<4x2xf32>) -> tensor<f32>
    return %loss, %y : tensor<f32>, tensor<4x2xf32>
  }
}

//--- wrong.mlir
func.func @loss(%x: tensor<4x6xf32> {nn.input = "x"}, %w: tensor<6x4xf32> {nn.param = "w"})
    -> (tensor<f32>, tensor<4x4xf32> {nn.metric = "y"}) {
  %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %loss = nn.reduce max "b e ->"(%y) : (tensor<4x4xf32>) -> tensor<f32>
  return %loss, %y : tensor<f32>, tensor<4x4xf32>
}
