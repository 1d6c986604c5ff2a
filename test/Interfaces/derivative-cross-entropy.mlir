// RUN: dist-opt %s --dist-test-write-derivatives --dist-decompose --cse | FileCheck %s

// Loss and derivative together read the classes by a maximum, a sum of
// exponentials and a pick, with label smoothing also by a sum of the logits.

// CHECK-LABEL: @plain
// CHECK: nn.reduce max
// CHECK-COUNT-2: nn.reduce sum
// CHECK-NOT: nn.reduce
func.func @plain(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<8xf32> {
  %y = nn.cross_entropy %x, %l : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: @smoothed
// CHECK: nn.reduce max
// CHECK-COUNT-3: nn.reduce sum
// CHECK-NOT: nn.reduce
func.func @smoothed(%x: tensor<8x512xf32>, %l: tensor<8xi32>) -> tensor<8xf32> {
  %y = nn.cross_entropy %x, %l {ignore_index = 0 : i64, label_smoothing = 0.1 : f32, z_loss = 1.0e-4 : f32} : (tensor<8x512xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
