//===- StructuralOps.td - Ops that carry an einops pattern --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_STRUCTURALOPS
#define DIST_DIALECT_NN_IR_STRUCTURALOPS

include "dist/Dialect/NN/IR/NNBase.td"
include "dist/Dialect/NN/IR/ReduceKind.td"

def NN_EinsumOp : NN_LinearOp<"einsum", [
    DeclareOpInterfaceMethods<SplittableOpInterface, ["buildSplit"]>]> {
  let summary = "Sum of products over named dimensions";
  let description = [{
    Names absent from the result are summed. Any number of operands.
    Accumulates in f32, in f64 for f64.

    ```mlir
    %y = nn.einsum "b s d, d e -> b s e"(%x, %w) : (tensor<8x128x256xf32>, tensor<256x64xf32>) -> tensor<8x128x64xf32>
    ```

    **Constraints**
    - (C1) The pattern has a term per operand and a dimension per dimension;
      every name of the result is in an operand.
    - (C2) A name has one size.
    - (C3) Element types are equal.
  }];
  let arguments = (ins NN_PatternAttr:$pattern, Variadic<NN_FloatTensor>:$inputs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    custom<Pattern>($pattern) `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)
  }];
}

def NN_RearrangeOp : NN_LinearOp<"rearrange", [
    DeclareOpInterfaceMethods<SplittableOpInterface, ["buildSplit"]>]> {
  let summary = "Permutes, splits and merges dimensions";
  let description = [{
    ```mlir
    %h = nn.rearrange "b s (h k) -> b h s k"(%x) {h = 8 : i64} : (tensor<8x128x256xf32>) -> tensor<8x8x128x32xf32>
    ```

    **Constraints**
    - (C1) Both sides have the same names.
    - (C2) Names have one size; sizes of names in `()` are inferred or given.
    - (C3) Element types are equal.
  }];
  let arguments = (ins NN_PatternAttr:$pattern, AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<Pattern>($pattern) `(` $input `)` attr-dict `:` functional-type($input, $result)
  }];
  let hasFolder = 1;
}

def NN_RepeatOp : NN_LinearOp<"repeat", [
    DeclareOpInterfaceMethods<SplittableOpInterface, ["buildSplit"]>]> {
  let summary = "Broadcasts along new dimensions";
  let description = [{
    ```mlir
    %bb = nn.repeat "d -> b s d"(%bias) : (tensor<256xf32>) -> tensor<8x128x256xf32>
    ```

    **Constraints**
    - (C1) Every name of the operand is in the result.
    - (C2) A name has one size.
    - (C3) Element types are equal.
  }];
  let arguments = (ins NN_PatternAttr:$pattern, AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<Pattern>($pattern) `(` $input `)` attr-dict `:` functional-type($input, $result)
  }];
}

def NN_ReduceOp : NN_LinearOp<"reduce", [
    
    DeclareOpInterfaceMethods<DecomposableOpInterface, ["isComposite"]>,
    DeclareOpInterfaceMethods<SplittableOpInterface, ["buildSplit"]>]> {
  let summary = "Reduces named dimensions";
  let description = [{
    `sum max min mean` over the names that the result does not have. Sums and
    means accumulate in f32, in f64 for f64. The derivative of max and min
    shares the cotangent equally among ties. A mean is composite: a sum times
    one over the count, so that sharding meets sums only.

    ```mlir
    %m = nn.reduce max "b h s t -> b h s"(%scores) : (tensor<8x8x128x128xf32>) -> tensor<8x8x128xf32>
    ```

    **Constraints**
    - (C1) Every name of the result is in the operand.
    - (C2) A name has one size.
    - (C3) Element types are equal; those of a mean are floats.
  }];
  let arguments = (ins NN_ReduceKind:$kind, NN_PatternAttr:$pattern,
                       AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind custom<Pattern>($pattern) `(` $input `)` attr-dict `:` functional-type($input, $result)
  }];
}

#endif // DIST_DIALECT_NN_IR_STRUCTURALOPS
