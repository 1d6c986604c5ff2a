// RUN: dist-opt %s --dist-verify-local --split-input-file --verify-diagnostics

!partial = tensor<8xf32, #dist.local<partial sum ["tp"]>>
func.func private @not_linear(%p: !partial) {
  // expected-error@+1 {{reads a partial value, in which it is not linear: operand #0}}
  %0 = math.exp %p : !partial
  return
}

// -----

!max = tensor<8xf32, #dist.local<partial max ["tp"]>>
func.func private @not_a_sum(%p: !max) {
  // expected-error@+1 {{reads a partial value, in which it is not linear}}
  %0 = arith.negf %p : !max
  return
}

// -----

!partial = tensor<8xf32, #dist.local<partial sum ["tp"]>>
func.func private @product(%p: !partial) {
  // expected-error@+1 {{'arith.mulf' op is a product of partial values: operands #0 and #1 owe a sum each}}
  %0 = arith.mulf %p, %p : !partial
  return
}

// -----

!partial = tensor<8xf32, #dist.local<partial sum ["tp"]>>
func.func private @sum_with_whole(%p: !partial, %w: tensor<8xf32>) {
  // expected-error@+1 {{adds what is owed to what is not: operand #0}}
  %0 = nn.concat %p, %w {dim = 0 : i64} : (!partial, tensor<8xf32>) -> tensor<16xf32, #dist.local<partial sum ["tp"]>>
  return
}

// -----

func.func private @loses_debt(%p: tensor<8xf32, #dist.local<partial sum ["tp"]>>) {
  // expected-error@+1 {{loses axis "tp", along which an operand of}}
  %0 = nn.reduce sum "i ->"(%p) : (tensor<8xf32, #dist.local<partial sum ["tp"]>>) -> tensor<f32>
  return
}

// -----

func.func private @loses_division(%x: tensor<8xf32, #dist.local<varying ["dp"]>>) {
  // expected-error@+1 {{loses axis "dp"}}
  %0 = nn.reduce sum "i ->"(%x) : (tensor<8xf32, #dist.local<varying ["dp"]>>) -> tensor<f32>
  return
}

// -----

// expected-error@+1 {{result #0 of the entry is still owed}}
func.func @step(%p: tensor<f32, #dist.local<partial sum ["dp"]>>) -> tensor<f32, #dist.local<partial sum ["dp"]>> {
  return %p : tensor<f32, #dist.local<partial sum ["dp"]>>
}

// -----

// expected-error@+1 {{argument #0 still has the sharding #dist.sharding<@mesh, }}
func.func @argument(%x: tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>>) {
  return
}

// -----

func.func @reshard(%x: tensor<8xf32>) {
  // expected-error@+1 {{is left in the local phase}}
  %0 = dist.reshard %x : tensor<8xf32> to tensor<8xf32, #dist.local<partial sum ["tp"]>>
  return
}

// -----

dist.mesh @mesh <["tp"=2]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{result #0 still has the sharding #dist.sharding<@mesh, [["tp"]]>}}
  %0 = nn.einsum "a -> a"(%x) : (tensor<8xf32>) -> tensor<8xf32, #dist.sharding<@mesh, [["tp"]]>>
  return %x : tensor<8xf32>
}
