// RUN: dist-opt %s --dist-verify-model --split-input-file --verify-diagnostics

// expected-note@+1 {{the function is here}}
func.func private @f(tensor<8xf32>) -> tensor<8xf32>
func.func @loss(%x: tensor<8xf32> {nn.param = "x"}) -> tensor<f32> {
  // expected-error@+1 {{'func.call' op calls 'f', which has no body}}
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = nn.reduce sum "i ->"(%0) : (tensor<8xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error@+1 {{calls itself, at first or at last; a model has no recursion}}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @loss(%x: tensor<8xf32> {nn.param = "x"}) -> tensor<f32> {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = nn.reduce sum "i ->"(%0) : (tensor<8xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error@+1 {{cannot stand in a model: a module holds functions and at most one dist.mesh}}
module {
}
func.func @loss(%x: tensor<f32> {nn.param = "x"}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @loss(%x: tensor<f32> {nn.param = "x"}) -> tensor<f32> {
  return %x : tensor<f32>
}
// expected-error@+1 {{cannot be named 'loss_and_grad': the compiler makes a function of this name}}
func.func @loss_and_grad() {
  return
}

// -----

func.func @loss(%x: tensor<f32> {nn.param = "x"}) -> tensor<f32> {
  // expected-error@+1 {{expects its elements as dense<…>, but it is dense_resource<r>}}
  %c = arith.constant dense_resource<r> : tensor<f32>
  %0 = arith.addf %c, %x : tensor<f32>
  return %0 : tensor<f32>
}

{-# dialect_resources: { builtin: { r: "0x0400000000000040" } } #-}
