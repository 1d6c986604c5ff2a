// RUN: dist-opt %s --dist-verify-model=entry=train | FileCheck %s
// RUN: not dist-opt %s --dist-verify-model="entry=train precision=f32" 2>&1 | FileCheck %s --check-prefix=F32

// Parameters and inputs in any order, a batch dimension that is not the first,
// frozen integers, every kind of initial value.
// CHECK: dist.phase = "model"
// F32: 'tensor<8xbf16>', which precision f32 cannot change yet
func.func @train(%k: tensor<2xi32> {nn.key},
                 %a: tensor<f32> {nn.param = "a", nn.init = "normal 0.02"},
                 %x: tensor<4x8xf32> {nn.input = "x"},
                 %y: tensor<2x4xi32> {nn.input = "y", nn.batch = 1},
                 %m: tensor<3xf32> {nn.input = "m", nn.no_batch},
                 %t: tensor<f32> {nn.input = "t"},
                 %i: tensor<4xi64> {nn.param = "i", nn.frozen, nn.init = "zeros"},
                 %b: tensor<8xbf16> {nn.param = "b", nn.init = "uniform -1 1", nn.no_decay})
    -> (tensor<f32>, tensor<f32> {nn.metric = "t"}) {
  return %a, %t : tensor<f32>, tensor<f32>
}
