// RUN: dist-opt %s --dist-propagate-shardings --split-input-file --verify-diagnostics

// expected-error@-3 {{has no entry function: name it 'loss'}}
dist.mesh @mesh <["dp"=2]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

dist.mesh @mesh <["dp"=2]>
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}) -> tensor<8xf32> {
  // expected-error@+1 {{'math.atan' op has no sharding rule}}
  %y = math.atan %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

dist.mesh @mesh <["dp"=2]>
// expected-error@+1 {{input 'x': nn.batch is 3, but the tensor has 1 dimensions}}
func.func @loss(%x: tensor<8xf32> {nn.input = "x", nn.batch = 3}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
