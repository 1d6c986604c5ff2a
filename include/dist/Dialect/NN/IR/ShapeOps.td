//===- ShapeOps.td - Slices, pads, joins --------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_SHAPEOPS
#define DIST_DIALECT_NN_IR_SHAPEOPS

include "dist/Dialect/NN/IR/NNBase.td"

def NN_SliceOp : NN_LinearOp<"slice", [
    DeclareOpInterfaceMethods<SplittableOpInterface,
        ["buildSplit", "splitsTensorsAlike"]>,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "A strided part of a tensor";
  let description = [{
    Elements `starts`, `starts + strides`, … below `limits`, per dimension.

    ```mlir
    %y = nn.slice %x {starts = array<i64: 0, 4>, limits = array<i64: 8, 8>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x4xf32>
    ```

    **Constraints**
    - (C1) The arrays have one entry per dimension.
    - (C2) `0 <= start <= limit <= size`, `stride >= 1`.
    - (C3) The result has the element type and `⌈(limit − start) / stride⌉`
      elements.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
  let hasFolder = 1;
}

def NN_PadOp : NN_LinearOp<"pad", [
    DeclareOpInterfaceMethods<SplittableOpInterface,
        ["buildSplit", "splitsTensorsAlike"]>]> {
  let summary = "A tensor with a border";
  let description = [{
    `low` elements in front and `high` behind each dimension, of `value`;
    `interior` (0 by default) between neighbours.

    ```mlir
    %y = nn.pad %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<8x8xf32>) -> tensor<9x8xf32>
    ```

    **Constraints**
    - (C1) The arrays have one entry per dimension, not negative.
    - (C2) `value` has the element type.
    - (C3) The result has the element type and
      `low + size + (size − 1)·interior + high` elements.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high,
                       OptionalAttr<DenseI64ArrayAttr>:$interior,
                       NN_NumberAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
}

def NN_ConcatOp : NN_LinearOp<"concat", [
    DeclareOpInterfaceMethods<SplittableOpInterface,
        ["buildSplit", "splitsTensorsAlike"]>]> {
  let summary = "Tensors one behind the other";
  let description = [{
    ```mlir
    %y = nn.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    ```

    **Constraints**
    - (C1) There is an operand; `dim` is a dimension of the operands.
    - (C2) The other dimensions and element types agree; `dim` of the result is
      the sum.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` functional-type($inputs, $result)
  }];
  let hasFolder = 1;
}

def NN_ReverseOp : NN_LinearOp<"reverse"> {
  let summary = "Dimensions back to front";
  let description = [{
    ```mlir
    %y = nn.reverse %x {dims = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```

    **Constraints**
    - (C1) `dims` are distinct dimensions of the operand.
    - (C2) The result has the type of the operand.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
}

def NN_ReshapeOp : NN_LinearOp<"reshape"> {
  let summary = "The same elements under another shape";
  let description = [{
    Row-major; what einops cannot say. Prefer `nn.rearrange`, whose pattern
    shards.

    ```mlir
    %y = nn.reshape %x : (tensor<8x6xf32>) -> tensor<4x12xf32>
    ```

    **Constraints**
    - (C1) Both shapes have the same number of elements, of one type.
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
  let hasFolder = 1;
}

#endif // DIST_DIALECT_NN_IR_SHAPEOPS
