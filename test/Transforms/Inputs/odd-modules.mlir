// Modules that the parser takes and that are no models, or are in another phase
// than a pass expects.

// -----

// Nothing.

// -----

// A mesh alone.
dist.mesh @mesh <["dp"=2, "tp"=2]>

// -----

// Two meshes, neither of the usual name.
dist.mesh @a <["dp"=2]>
dist.mesh @b <["tp"=2]>
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %l = nn.einsum "i, i ->"(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A mesh without axes, and one of a single device.
dist.mesh @mesh <[]>
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %l = nn.einsum "i, i ->"(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A good model on a mesh.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func private @layer(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %z = nn.softmax %y {dim = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}
func.func @loss(%x: tensor<8x16xf32> {nn.input = "x"}, %w: tensor<16x16xf32> {nn.param = "w", nn.init = "ones"}) -> tensor<f32> {
  %y = func.call @layer(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %l = nn.reduce sum "b e ->"(%y) : (tensor<8x16xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A function that calls itself.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func private @again(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @again(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %y = func.call @again(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %l = nn.einsum "i, i ->"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Two functions that call each other, and an entry that is called.
dist.mesh @mesh <["tp"=2]>
func.func private @ping(%x: tensor<8xf32>) -> tensor<f32> {
  %y = func.call @pong(%x) : (tensor<8xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func private @pong(%x: tensor<8xf32>) -> tensor<f32> {
  %z = func.call @ping(%x) : (tensor<8xf32>) -> tensor<f32>
  %y = func.call @loss(%x) : (tensor<8xf32>) -> tensor<f32>
  %s = arith.addf %y, %z : tensor<f32>
  return %s : tensor<f32>
}
func.func @loss(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %l = func.call @ping(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A call without a body to run.
dist.mesh @mesh <["dp"=2]>
func.func private @declared(%x: tensor<8xf32>) -> tensor<8xf32>
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %y = func.call @declared(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %l = nn.einsum "i, i ->"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Entries without a body.
dist.mesh @mesh <["dp"=2]>
func.func private @loss(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32>
func.func private @step(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32>
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32>

// -----

// Branches.
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %c = arith.constant true
  cf.cond_br %c, ^a, ^b
^a:
  %l = nn.einsum "i, i ->"(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
^b:
  %m = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %m : tensor<f32>
}

// -----

// Loops.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 4 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%acc = %w) -> (tensor<8xf32>) {
    %z = arith.mulf %acc, %x : tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  %l = nn.reduce sum "i ->"(%y) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Dynamic and unranked shapes, and no tensors at all.
func.func @loss(%x: tensor<?xf32> {nn.input = "x"}, %w: tensor<?xf32> {nn.param = "w"}) -> tensor<?xf32> {
  %l = arith.mulf %x, %w : tensor<?xf32>
  return %l : tensor<?xf32>
}
func.func private @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}
func.func @step(%x: f32 {nn.param = "x"}, %v: vector<4xf32> {nn.input = "v"}) -> (f32, vector<4xf32>) {
  %y = arith.addf %x, %x : f32
  %z = math.exp %v : vector<4xf32>
  %c = arith.constant dense<1.0> : vector<4xf32>
  %s = arith.mulf %z, %c : vector<4xf32>
  return %y, %s : f32, vector<4xf32>
}

// -----

// The same on a mesh.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @loss(%x: tensor<?xf32> {nn.input = "x"}, %w: tensor<?xf32> {nn.param = "w"}) -> tensor<?xf32> {
  %l = arith.mulf %x, %w : tensor<?xf32>
  return %l : tensor<?xf32>
}
func.func @step(%x: f32 {nn.param = "x"}, %v: vector<4xf32> {nn.input = "v"}) -> (f32, vector<4xf32>) {
  %y = arith.addf %x, %x : f32
  %z = math.exp %v : vector<4xf32>
  return %y, %z : f32, vector<4xf32>
}

// -----

// Shapes without elements.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @loss(%x: tensor<0x4xf32> {nn.input = "x"}, %w: tensor<4x0xf32> {nn.param = "w"}) -> tensor<f32> {
  %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<0x4xf32>, tensor<4x0xf32>) -> tensor<0x0xf32>
  %l = nn.reduce max "b e ->"(%y) : (tensor<0x0xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// No results, no arguments, results that nothing computes.
func.func @loss() {
  return
}
func.func @step() -> tensor<f32> {
  %l = arith.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}

// -----

// Integers for the loss and a parameter, and a metric that is none.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @loss(%x: tensor<8xi32> {nn.input = "x"}, %w: tensor<8xi32> {nn.param = "w"}) -> (tensor<i32>, tensor<8xi32> {nn.metric = "m"}) {
  %y = arith.muli %x, %w : tensor<8xi32>
  %l = nn.reduce sum "i ->"(%y) : (tensor<8xi32>) -> tensor<i32>
  return %l, %y : tensor<i32>, tensor<8xi32>
}

// -----

// Arguments of no role, of two, of the same name.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @loss(%x: tensor<8xf32>, %k: tensor<7xf32> {nn.key, nn.param = "w"}, %w: tensor<8xf32> {nn.param = "w"},
                %i: tensor<8x4xf32> {nn.input = "x", nn.batch = 9}, %j: tensor<8x4xf32> {nn.input = "x", nn.batch = -3}) -> tensor<f32> {
  %l = nn.einsum "i, i ->"(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// What is not of the language.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %i = arith.fptoui %x : tensor<8xf32> to tensor<8xi32>
  %f = arith.uitofp %i : tensor<8xi32> to tensor<8xf32>
  %b = arith.bitcast %f : tensor<8xf32> to tensor<8xi32>
  %g = math.atan %w : tensor<8xf32>
  %l = nn.einsum "i, i ->"(%f, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A step that lacks most of its arguments and returns what is not there.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @step(%w: tensor<8xf32> {nn.param = "w"}, %m: tensor<4xf32> {nn.state = "m"})
    -> (tensor<8xf32> {nn.param = "v"}, tensor<4xf32> {nn.state = "m:w"}, tensor<8xf32> {nn.grad = "u"}) {
  %y = arith.addf %w, %w : tensor<8xf32>
  return %y, %m, %w : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}

// -----

// A gradient function with results of no mark and a gradient of nothing.
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}, %x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32> {nn.grad = "v"}) {
  %l = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l, %x : tensor<f32>, tensor<8xf32>
}

// -----

// A gradient function that lacks a gradient, and a step that is there already.
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<f32> {nn.loss}) {
  %l = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func private @step(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<8xf32> {
  return %w : tensor<8xf32>
}

// -----

// Shardings of some values, of the wrong length, of axes and of a mesh that are
// not there, of dimensions that they do not divide.
dist.mesh @mesh <["dp"=2, "tp"=2]>
func.func @step(%x: tensor<8x6xf32, #dist.sharding<@mesh, [["dp"], []]>> {nn.input = "x"}, %w: tensor<6x5xf32> {nn.param = "w"}) -> tensor<f32> {
  %y = nn.einsum "b d, d e -> b e"(%x, %w) : (tensor<8x6xf32, #dist.sharding<@mesh, [["dp"], []]>>, tensor<6x5xf32>) -> tensor<8x5xf32, #dist.sharding<@mesh, [["tp"], ["dp"]], partial sum ["pp"]>>
  %z = dist.reshard %y : tensor<8x5xf32, #dist.sharding<@mesh, [["tp"], ["dp"]], partial sum ["pp"]>> to tensor<8x5xf32, #dist.sharding<@other, [[], ["tp"]]>>
  %v = dist.reshard %z : tensor<8x5xf32, #dist.sharding<@other, [[], ["tp"]]>> to tensor<8x5xf32>
  %l = nn.reduce max "b e ->"(%v) : (tensor<8x5xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Shardings without a mesh.
func.func @step(%x: tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>> {nn.input = "x"}) -> tensor<8xf32, #dist.sharding<@mesh, [["dp"]], partial sum ["tp"]>> {
  %y = dist.reshard %x : tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>> to tensor<8xf32, #dist.sharding<@mesh, [["dp"]], partial sum ["tp"]>>
  return %y : tensor<8xf32, #dist.sharding<@mesh, [["dp"]], partial sum ["tp"]>>
}

// -----

// Local shapes, blocks of unequal size, sub-axes, a maximum that is owed.
module attributes {dist.phase = "local"} {
  dist.mesh @mesh <["dp"=2, "tp"=4]>
  func.func private @layer(%x: tensor<3xf32, #dist.local<varying ["tp"]>>) -> tensor<3xf32, #dist.local<varying ["tp"]>> {
    return %x : tensor<3xf32, #dist.local<varying ["tp"]>>
  }
  func.func @step(%x: tensor<3xf32, #dist.local<varying ["tp"]>> {nn.input = "x"}, %p: tensor<8xf32, #dist.local<partial max ["dp"]>>)
      -> (tensor<10xf32>, tensor<8xf32, #dist.local<partial max ["dp"]>>) {
    %y = func.call @layer(%x) : (tensor<3xf32, #dist.local<varying ["tp"]>>) -> tensor<3xf32, #dist.local<varying ["tp"]>>
    %g = dist.all_gather %y over ["tp"] {dim = 0 : i64} : (tensor<3xf32, #dist.local<varying ["tp"]>>) -> tensor<10xf32>
    %s = dist.all_reduce sum %g over ["tp":(1)2] : (tensor<10xf32>) -> tensor<10xf32>
    %i = dist.axis_index over ["dp"] : tensor<i32>
    %q = dist.permute %s over ["dp"] {pairs = array<i64: 0, 1>} : (tensor<10xf32>) -> tensor<10xf32>
    return %q, %p : tensor<10xf32>, tensor<8xf32, #dist.local<partial max ["dp"]>>
  }
}

// -----

// Constants that are no elements, a constraint on a mesh, an encoding that is
// not ours, an op between functions.
dist.mesh @mesh <["dp"=2, "tp"=2]>
memref.global "private" constant @c : memref<2xf32> = dense<[1.0, 2.0]>
func.func @loss(%x: tensor<8xf32, "odd"> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w", dist.sharding = #dist.sharding<@mesh, [["tp"]]>}) -> tensor<f32> {
  %c = arith.constant dense_resource<r> : tensor<8xf32>
  %k = dist.constraint %w <@mesh, [["dp", "tp"]]> : tensor<8xf32>
  %m = arith.mulf %c, %k : tensor<8xf32>
  %l = nn.einsum "i, i ->"(%m, %m) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
{-#
  dialect_resources: {builtin: {r: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"}}
#-}

// -----

// An op whose result nobody can differentiate, and marks of places that are not
// those of the mesh.
dist.mesh @mesh <["dp"=2]>
func.func @loss(%q: tensor<2x2x4x4xf32> {nn.param = "q"}) -> tensor<f32> {
  %a, %lse = nn.attention %q, %q, %q {causal, scale = 1.0 : f32} : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4xf32>)
  %i = nn.iota {dim = 0 : i64, place = #dist.place<@none, [["tp"]], [16]>} : () -> tensor<4xf32>
  %s = nn.reduce sum "b h s ->"(%lse) : (tensor<2x2x4xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
