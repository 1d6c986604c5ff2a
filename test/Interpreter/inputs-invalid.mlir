// Inputs that do not fit, and programs that nothing can be run of.
//
// RUN: split-file %s %t
// RUN: dist-interp %t/three.mlir --outputs %t/three.safetensors
// RUN: not dist-interp %t/four.mlir --inputs %t/three.safetensors 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not dist-interp %t/ints.mlir --inputs %t/three.safetensors 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not dist-interp %t/narrow.mlir --inputs %t/three.safetensors 2>&1 | FileCheck %s --check-prefix=FIT
// RUN: dist-interp %t/wide.mlir --inputs %t/three.safetensors --print | FileCheck %s --check-prefix=WIDE
// RUN: not dist-interp %t/private.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not dist-interp %t/dynamic.mlir 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not dist-interp %t/resource.mlir 2>&1 | FileCheck %s --check-prefix=DENSE
// RUN: not dist-interp %t/complex.mlir 2>&1 | FileCheck %s --check-prefix=ELEMENT

// SHAPE: error: 'x' cannot be of shape 3; expected 4
// KIND: error: the tensor for 'x' holds f32; expected i32
// FIT: error: the tensor for 'n' holds 4294967296 at position 1, which does not fit in i32
// WIDE: result0 = [1, 2, 3]
// NOTHING: error: has no function to run
// STATIC: error: 'x' is 'tensor<?xf32>', but only tensors of static shape can be run
// DENSE: error: 'arith.constant' op {{.*}}only dense constants can be interpreted
// ELEMENT: error: {{.*}}has a result of type 'tensor<2xf8E5M2>', which cannot be interpreted

//--- three.mlir
func.func @loss() -> (tensor<3xf32> {nn.metric = "x"}, tensor<2xi64> {nn.metric = "n"}) {
  %x = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %n = arith.constant dense<[1, 4294967296]> : tensor<2xi64>
  return %x, %n : tensor<3xf32>, tensor<2xi64>
}
//--- four.mlir
func.func @loss(%x: tensor<4xf32> {nn.input = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
//--- ints.mlir
func.func @loss(%x: tensor<3xi32> {nn.input = "x"}) -> tensor<3xi32> {
  return %x : tensor<3xi32>
}
//--- narrow.mlir
func.func @loss(%n: tensor<2xi32> {nn.input = "n"}) -> tensor<2xi32> {
  return %n : tensor<2xi32>
}
//--- wide.mlir
func.func @loss(%x: tensor<3xf64> {nn.input = "x"}) -> tensor<3xf64> {
  return %x : tensor<3xf64>
}
//--- private.mlir
func.func private @f() {
  return
}
//--- dynamic.mlir
func.func @loss(%x: tensor<?xf32> {nn.input = "x"}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
//--- resource.mlir
func.func @loss() -> tensor<1xf32> {
  %x = arith.constant dense_resource<r> : tensor<1xf32>
  return %x : tensor<1xf32>
}
{-#
  dialect_resources: {builtin: {r: "0x040000000000803F"}}
#-}
//--- complex.mlir
func.func @loss(%x: tensor<2xf32> {nn.input = "x"}) -> tensor<2xf32> {
  %y = arith.truncf %x : tensor<2xf32> to tensor<2xf8E5M2>
  return %x : tensor<2xf32>
}
