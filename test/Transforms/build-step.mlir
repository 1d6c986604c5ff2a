// RUN: dist-opt %s --dist-differentiate --dist-build-step | FileCheck %s --check-prefixes=CHECK,ADAMW
// RUN: dist-opt %s --dist-differentiate --dist-build-step="optimizer=sgd momentum=0.9 clip-norm=1" | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: not dist-opt %s --dist-differentiate --dist-build-step=optimizer=lion 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not dist-opt %s --dist-build-step 2>&1 | FileCheck %s --check-prefix=UNDIFFERENTIATED

// UNKNOWN: error: optimizer 'lion' is not known; known are adamw and sgd
// UNDIFFERENTIATED: error: has no function 'loss_and_grad': differentiate it

// Arguments and results are marked by name; a frozen parameter has no state and
// no gradient, and comes back as it was.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:.*]]: tensor<8xf32> {nn.param = "w"}, %[[F:.*]]: tensor<8xf32> {nn.frozen, nn.param = "f"}
// ADAMW-SAME: tensor<8xf32> {nn.state = "m:w"}, %{{.*}}: tensor<8xf32> {nn.state = "v:w"}
// SGD-SAME: %[[M:.*]]: tensor<8xf32> {nn.state = "m:w"}
// CHECK-SAME: tensor<8xf32> {nn.input = "x"}, %{{.*}}: tensor<f32> {nn.lr}, %{{.*}}: tensor<i64> {nn.step}) -> (
// CHECK-SAME: tensor<f32> {nn.loss}, tensor<f32> {nn.norm}, tensor<8xf32> {nn.grad = "w"})
// CHECK: %[[NORM:.*]] = math.sqrt
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[NORM]]
// SGD: %[[RATIO:.*]] = arith.divf
// SGD: arith.minimumf %{{.*}}, %[[RATIO]]
// ADAMW: math.powf
// ADAMW-COUNT-3: arith.select
// SGD-COUNT-2: arith.select
// CHECK: return %{{.*}}, %[[F]],
func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}, %f: tensor<8xf32> {nn.param = "f", nn.frozen}) -> tensor<f32> {
  %0 = nn.einsum "i, i, i ->"(%x, %w, %f) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
