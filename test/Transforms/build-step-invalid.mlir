// RUN: dist-opt %s --dist-build-step --split-input-file --verify-diagnostics

// expected-error@+1 {{result #1 has no mark: expected nn.loss, nn.metric or nn.grad}}
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<f32> {nn.loss}, tensor<8xf32>) {
  %l = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l, %w : tensor<f32>, tensor<8xf32>
}

// -----

// expected-error@+1 {{result #1 is the gradient of 'v', which is no parameter}}
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<f32> {nn.loss}, tensor<8xf32> {nn.grad = "v"}) {
  %l = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l, %w : tensor<f32>, tensor<8xf32>
}

// -----

// expected-error@+1 {{expects its first result to be nn.loss}}
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<8xf32> {nn.grad = "w"}) {
  return %w : tensor<8xf32>
}

// -----

// expected-error@+1 {{returns no gradient of parameter 'w'}}
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}, %v: tensor<8xf32> {nn.param = "v", nn.frozen}) -> (tensor<f32> {nn.loss}) {
  %l = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<f32> {nn.loss}, tensor<8xf32> {nn.grad = "w"}) {
  %l = nn.reduce sum "i ->"(%w) : (tensor<8xf32>) -> tensor<f32>
  return %l, %w : tensor<f32>, tensor<8xf32>
}
// expected-error@+1 {{is in the way of the step that is built}}
func.func private @step(%w: tensor<8xf32>) -> tensor<8xf32> {
  return %w : tensor<8xf32>
}

// -----

// expected-error@+1 {{argument #1 is no parameter, input or key}}
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}, %x: tensor<8xf32>) -> (tensor<f32> {nn.loss}, tensor<8xf32> {nn.grad = "w"}) {
  %l = nn.einsum "i, i ->"(%w, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l, %w : tensor<f32>, tensor<8xf32>
}

// -----

// expected-error@+1 {{has two parameters 'w'}}
func.func private @loss_and_grad(%w: tensor<8xf32> {nn.param = "w"}, %v: tensor<8xf32> {nn.param = "w"}) -> (tensor<f32> {nn.loss}, tensor<8xf32> {nn.grad = "w"}) {
  %l = nn.einsum "i, i ->"(%w, %v) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l, %w : tensor<f32>, tensor<8xf32>
}
