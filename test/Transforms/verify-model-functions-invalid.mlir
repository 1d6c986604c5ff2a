// RUN: dist-opt %s --dist-verify-model --split-input-file --verify-diagnostics

func.func @loss(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error@+2 {{is not an op of the model language}}
  // expected-note@+1 {{docs/accepted-ops.md}}
  %0 = math.cbrt %w : tensor<8xf32>
  %1 = nn.reduce sum "i ->"(%0) : (tensor<8xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error@+1 {{argument #0 is 'tensor<?xf32>', but a model has tensors of static shape}}
func.func @loss(%w: tensor<?xf32> {nn.param = "w"}) -> tensor<f32> {
  %0 = arith.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error@+1 {{result #0 of 'arith.constant' is 'f32', but a model has tensors}}
  %0 = arith.constant 1.0 : f32
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error@+1 {{is 'tensor<2xi8>', but elements are f64, f32, bf16, f16, i1, i32 or i64}}
  %0 = arith.constant dense<1> : tensor<2xi8>
  return %w : tensor<f32>
}

// -----

dist.mesh @mesh <["dp"=2]>
// expected-error@+1 {{types of a model have no encoding: ask for a sharding by dist.constraint}}
func.func @loss(%w: tensor<8xf32, #dist.sharding<@mesh, [["dp"]]>> {nn.param = "w"}) -> tensor<f32> {
  %0 = arith.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error@+1 {{has 2 blocks, but a model has no branches}}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
^bb1:
  return %x : tensor<f32>
}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error@+1 {{calls itself, at first or at last}}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-note@+1 {{the function is here}}
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error@+1 {{calls 'f', which is not private}}
  %0 = call @f(%w) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-note@+1 {{the function is here}}
func.func private @f(tensor<f32>) -> tensor<f32>
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error@+1 {{calls 'f', which has no body}}
  %0 = call @f(%w) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error@+1 {{calls the entry}}
  %0 = call @loss(%w) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error@+1 {{nn.param belongs to arguments of the entry; 'f' is called}}
func.func private @f(%x: tensor<f32> {nn.param = "x"}) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}
