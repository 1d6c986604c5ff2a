// RUN: dist-opt %s --dist-expose-factors --split-input-file --verify-diagnostics

// What every pass takes for granted, by one that looks at all of it.
// expected-error@+1 {{'func.func' op has no body}}
func.func private @f(tensor<8xf32>)

// -----

// expected-error@+1 {{has 2 blocks, but a model has no branches}}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
^bb1:
  return %x : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>, %n: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{result #0 of 'arith.constant' is 'index', but a model has tensors of static shape}}
  %zero = arith.constant 0 : index
  return %x : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has regions, but a model has no branches or loops}}
  %y = scf.execute_region -> tensor<8xf32> {
    scf.yield %x : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f() -> tensor<8xf32> {
  // expected-error@+1 {{expects its elements as dense<…>, but it is dense_resource<r>}}
  %y = arith.constant dense_resource<r> : tensor<8xf32>
  return %y : tensor<8xf32>
}
{-#
  dialect_resources: {builtin: {r: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"}}
#-}

// -----

// expected-error@+1 {{calls itself, at first or at last; a model has no recursion}}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-note@+1 {{the mesh is here}}
dist.mesh @mesh <["dp"=2]>
// expected-error@+1 {{argument #0: sharding names an unknown axis "tp"}}
func.func @f(%x: tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>>) -> tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>> {
  return %x : tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>>
}
