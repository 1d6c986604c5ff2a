// Parameters and states of one step are those of the next; the rate and the
// number of the step come in, and the key is the step's.
//
// RUN: dist-interp %s --lr 0.5 --print | FileCheck %s --check-prefix=ONE
// RUN: dist-interp %s --lr 0.5 --steps 3 --print | FileCheck %s --check-prefix=THREE
// RUN: dist-interp %s --lr 0.5 --step 7 --seed 5 --print | FileCheck %s --check-prefix=SEVEN
// RUN: dist-interp %s --lr 0.5 --steps 3 --outputs %t.safetensors
// RUN: dist-interp %s --lr 0.5 --step 4 --inputs %t.safetensors --print | FileCheck %s --check-prefix=FOUR
// RUN: dist-interp %s --entry loss --print | FileCheck %s --check-prefix=LOSS
// RUN: not dist-interp %s --steps 0 2>&1 | FileCheck %s --check-prefix=STEPS

// ONE: param:w = [0.5, 0.5]
// ONE-NEXT: state:m:w = [1, 1]
// ONE-NEXT: loss = 2
// ONE-NEXT: grad_norm = 1
// ONE-NEXT: grad:w = [1, 1]
// THREE: param:w = [-2, -2]
// THREE-NEXT: state:m:w = [6, 6]
// THREE-NEXT: loss = -1
// THREE-NEXT: grad_norm = 3
// SEVEN: grad_norm = 7
// FOUR: param:w = [-4, -4]
// FOUR-NEXT: state:m:w = [10, 10]
// LOSS: loss = 2
// STEPS: error: --steps and --step must be positive

module attributes {dist.phase = "step"} {
  func.func @loss(%w: tensor<2xf32> {nn.param = "w", nn.init = "ones"}) -> tensor<f32> {
    %loss = nn.reduce sum "a ->"(%w) : (tensor<2xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  // m += step, w -= lr * step.
  func.func @step(%w: tensor<2xf32> {nn.param = "w", nn.init = "ones"},
                  %m: tensor<2xf32> {nn.state = "m:w"},
                  %key: tensor<2xi32> {nn.key}, %lr: tensor<f32> {nn.lr}, %step: tensor<i64> {nn.step})
      -> (tensor<2xf32> {nn.param = "w"}, tensor<2xf32> {nn.state = "m:w"},
          tensor<f32> {nn.loss}, tensor<f32> {nn.norm}, tensor<2xf32> {nn.grad = "w"}) {
    %loss = nn.reduce sum "a ->"(%w) : (tensor<2xf32>) -> tensor<f32>
    %t = arith.sitofp %step : tensor<i64> to tensor<f32>
    %g = nn.repeat "-> a"(%t) : (tensor<f32>) -> tensor<2xf32>
    %rate = nn.repeat "-> a"(%lr) : (tensor<f32>) -> tensor<2xf32>
    %change = arith.mulf %rate, %g : tensor<2xf32>
    %new_w = arith.subf %w, %change : tensor<2xf32>
    %new_m = arith.addf %m, %g : tensor<2xf32>
    return %new_w, %new_m, %loss, %t, %g
      : tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<2xf32>
  }
}
