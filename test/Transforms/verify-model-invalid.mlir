// RUN: dist-opt %s --dist-verify-model --split-input-file --verify-diagnostics

// expected-error@+2 {{the module has no function 'loss'}}
// expected-note@+1 {{functions here: main}}
module {
  func.func @main(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
    return %w : tensor<f32>
  }
}

// -----

// expected-error@+1 {{has no body}}
func.func private @loss(tensor<f32>) -> tensor<f32>

// -----

// expected-error@+1 {{is private, but it is the entry}}
func.func private @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-note@+1 {{the first is here}}
dist.mesh @a <["dp"=2]>
// expected-error@+1 {{is the second mesh of the module}}
dist.mesh @b <["tp"=2]>

// -----

// expected-error@+1 {{cannot be named 'step'}}
func.func private @step(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

module {
  // expected-error@+1 {{cannot stand in a model}}
  module @nested {
  }
}

// -----

// expected-error@+1 {{returns nothing: expected the scalar loss}}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) {
  return
}

// -----

// expected-error@+1 {{expects its first result, the loss, to be a scalar float such as 'tensor<f32>', but it is 'tensor<2xf32>'}}
func.func @loss(%w: tensor<2xf32> {nn.param = "w"}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}

// -----

// expected-error@+1 {{marks its first result as a metric}}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> (tensor<f32> {nn.metric = "m"}) {
  return %w : tensor<f32>
}

// -----

// expected-error@+1 {{result #1 has no name: expected 'nn.metric'}}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> (tensor<f32>, tensor<f32>) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error@+1 {{result #2: metric "m" is returned twice}}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> (tensor<f32>, tensor<f32> {nn.metric = "m"}, tensor<f32> {nn.metric = "m"}) {
  return %w, %w, %w : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// expected-error@+1 {{result #1: metric "m" is logged as a number, but it is 'tensor<1xf32>'}}
func.func @loss(%w: tensor<f32> {nn.param = "w"}, %x: tensor<1xf32> {nn.input = "x"}) -> (tensor<f32>, tensor<1xf32> {nn.metric = "m"}) {
  return %w, %x : tensor<f32>, tensor<1xf32>
}

// -----

// expected-error@+2 {{has no parameter to train}}
// expected-note@+1 {{nn.param = "NAME"}}
func.func @loss(%x: tensor<f32> {nn.input = "x"}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{argument #1 has no role: expected nn.param, nn.input or nn.key}}
                %x: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error@+1 {{an argument has one role, but this has nn.param and nn.input}}
func.func @loss(%w: tensor<f32> {nn.param = "w", nn.input = "x"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{nn.init belongs to arguments of nn.param, but this is nn.input}}
                %x: tensor<f32> {nn.input = "x", nn.init = "ones"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-note@+1 {{the first is here}}
func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{nn.param "w" is given twice}}
                %x: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error@+1 {{parameter 'w': nn.init is "gauss 1", but expected "zeros", "ones", "normal STD" or "uniform LO HI"}}
func.func @loss(%w: tensor<f32> {nn.param = "w", nn.init = "gauss 1"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error@+1 {{nn.init is "uniform 2 1"}}
func.func @loss(%w: tensor<f32> {nn.param = "w", nn.init = "uniform 2 1"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{parameter 'i' of type 'tensor<4xi32>' cannot be trained: expected floats, or nn.frozen}}
                %i: tensor<4xi32> {nn.param = "i"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{cannot be drawn by "normal 1", which gives floats}}
                %i: tensor<4xi32> {nn.param = "i", nn.frozen, nn.init = "normal 1"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{input 'x': nn.batch is 2, but the tensor has 2 dimensions}}
                %x: tensor<4x8xf32> {nn.input = "x", nn.batch = 2}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{input 'x' has both nn.batch and nn.no_batch}}
                %x: tensor<4x8xf32> {nn.input = "x", nn.batch = 0, nn.no_batch}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-note@+1 {{the other input is here}}
                %x: tensor<4x8xf32> {nn.input = "x"},
                // expected-error@+2 {{input 'y' has a batch of 8, but another input has 4}}
                // expected-note@+1 {{mark the dimension by nn.batch}}
                %y: tensor<8x4xf32> {nn.input = "y"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-error@+1 {{expects the key to be 'tensor<2xi32>', but it is 'tensor<2xi64>'}}
                %k: tensor<2xi64> {nn.key}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func @loss(%w: tensor<f32> {nn.param = "w"},
                // expected-note@+1 {{the first is here}}
                %k: tensor<2xi32> {nn.key},
                // expected-error@+1 {{is the second nn.key; a step has one}}
                %l: tensor<2xi32> {nn.key}) -> tensor<f32> {
  return %w : tensor<f32>
}
