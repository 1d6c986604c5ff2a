// RUN: dist-opt %s --dist-verify-sharded --split-input-file --verify-diagnostics

// expected-error@+1 {{argument #0 is 'tensor<8xf32, #dist.sharding<@mesh, }}
func.func @no_mesh(%x: tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>>) {
  return
}

// -----

dist.mesh @mesh <["dp"=2]>
// expected-error@+1 {{argument #0 has no sharding: it is 'tensor<8xf32>'}}
func.func @argument(%x: tensor<8xf32>) {
  return
}

// -----

dist.mesh @mesh <["dp"=2]>
func.func @result() {
  // expected-error@+1 {{result #0 has no sharding}}
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  return
}

// -----

// expected-note@+1 {{the mesh is here}}
dist.mesh @mesh <["dp"=2]>
// expected-error@+1 {{sharding names an unknown axis "tp"}}
func.func @axis(%x: tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>>) {
  return
}

// -----

dist.mesh @mesh <["dp"=2]>
// expected-error@+1 {{sharding names an unknown mesh @other}}
func.func @mesh_name(%x: tensor<8xf32, #dist.sharding<@other, [["dp"]]>>) {
  return
}

// -----

dist.mesh @mesh <["dp"=2]>
func.func @constraint(%x: tensor<8xf32, #dist.sharding<@mesh, [[]]>>) {
  // expected-error@+1 {{is left in the sharded phase}}
  %0 = dist.constraint %x <@mesh, [["dp"]]> : tensor<8xf32, #dist.sharding<@mesh, [[]]>>
  return
}

// -----

dist.mesh @mesh <["dp"=2]>
func.func @elementwise(%x: tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>>, %n: tensor<8xi32, #dist.sharding<@mesh, [[]]>>) {
  // expected-error@+1 {{but its result is}}
  %0 = math.fpowi %x, %n : tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>>, tensor<8xi32, #dist.sharding<@mesh, [[]]>>
  return
}
