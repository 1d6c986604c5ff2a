// RUN: split-file %s %t
// RUN: not dist-interp %t/ids.mlir --entry embedding --step 3 2>&1 | FileCheck %s --check-prefix=EMBEDDING
// RUN: not dist-interp %t/ids.mlir --entry cross_entropy 2>&1 | FileCheck %s --check-prefix=LABEL
// RUN: not dist-interp %t/ids.mlir --entry checked 2>&1 | FileCheck %s --check-prefix=CHECKED
// RUN: dist-interp %t/ids.mlir --entry ignored --print | FileCheck %s --check-prefix=IGNORED
// RUN: not dist-interp %t/ids.mlir 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not dist-interp %t/ids.mlir --entry nothing 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dist-interp %t/init.mlir --entry absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not dist-interp %t/init.mlir --entry bad 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not dist-interp %t/init.mlir --entry twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not dist-interp %t/init.mlir --entry declared 2>&1 | FileCheck %s --check-prefix=DECLARED
// RUN: not dist-interp %t/init.mlir --entry endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not dist-interp %t/init.mlir --entry other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not dist-interp %t/init.mlir --entry other --inputs %t/none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not dist-interp %t/none 2>&1 | FileCheck %s --check-prefix=NONE

// EMBEDDING: ids.mlir:4:8: error: 'nn.embedding' op in step 3: id 3 at position 1 is outside of [0, 3)
// LABEL: error: 'nn.cross_entropy' op in step 1: id -100 at position 0 is outside of [0, 2)
// CHECKED: error: 'nn.checked' op in step 1: id -1 of 'take' at position 2 is outside of [0, 4)
// IGNORED: result0 = [0]
// ENTRY: error: has no function 'loss' and several others; name the one to run
// NAME: error: has no function 'nothing' to run
// ABSENT: error: parameter 'w' has neither a value in the inputs nor an 'nn.init'
// BAD: error: parameter 'w' has a bad 'nn.init': {{.*}}normal
// TWICE: error: 'param:w' is the name of two arguments
// DECLARED: error: 'func.func' op cannot be run: it needs a body of one block
// ENDLESS: error: 'func.func' op is called 64 calls deep; recursion cannot be run
// OTHER: error: 'math.atan' op cannot be interpreted
// FILE: dist-interp: error: {{.*}}none
// NONE: dist-interp: error: cannot read '{{.*}}none': No such file or directory

//--- ids.mlir
func.func @embedding() -> tensor<2x1xf32> {
  %table = arith.constant dense<1.0> : tensor<3x1xf32>
  %ids = arith.constant dense<[2, 3]> : tensor<2xi32>
  %x = nn.embedding %table, %ids : (tensor<3x1xf32>, tensor<2xi32>) -> tensor<2x1xf32>
  return %x : tensor<2x1xf32>
}
func.func @cross_entropy() -> tensor<1xf32> {
  %x = arith.constant dense<0.0> : tensor<1x2xf32>
  %labels = arith.constant dense<-100> : tensor<1xi32>
  %l = nn.cross_entropy %x, %labels : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %l : tensor<1xf32>
}
func.func @ignored() -> tensor<1xf32> {
  %x = arith.constant dense<0.0> : tensor<1x2xf32>
  %labels = arith.constant dense<-100> : tensor<1xi32>
  %l = nn.cross_entropy %x, %labels {ignore_index = -100 : i64} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %l : tensor<1xf32>
}
func.func @checked() -> tensor<3xi32> {
  %ids = arith.constant dense<[0, 3, -1]> : tensor<3xi32>
  %l = nn.checked %ids {bound = 4 : i64, what = "take"} : (tensor<3xi32>) -> tensor<3xi32>
  return %l : tensor<3xi32>
}

//--- init.mlir
func.func @absent(%w: tensor<2xf32> {nn.param = "w"}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}
func.func @bad(%w: tensor<2xf32> {nn.param = "w", nn.init = "normal"}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}
func.func @twice(%w: tensor<2xf32> {nn.param = "w"}, %x: tensor<2xf32> {nn.param = "w"}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}
func.func private @declared() -> tensor<2xf32>
func.func @endless() -> tensor<f32> {
  %x = call @endless() : () -> tensor<f32>
  return %x : tensor<f32>
}
func.func @other(%x: tensor<2xf32> {nn.input = "x"}) -> tensor<2xf32> {
  %y = math.atan %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
