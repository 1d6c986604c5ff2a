//===- ElementwiseOps.td - Activations, dropout, checks -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_ELEMENTWISEOPS
#define DIST_DIALECT_NN_IR_ELEMENTWISEOPS

include "dist/Dialect/NN/IR/NNBase.td"

class NN_UnaryOp<string mnemonic, list<string> ruleMethods = []>
    : NN_OpBase<mnemonic, [AllTypesMatch<["input", "result"]>,
                           SplittableOpInterface], ruleMethods> {
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
}

def NN_GeluOp : NN_UnaryOp<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `x Φ(x)` with `approximate = "none"` (the default, by erf), or its tanh form
    `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))` with `"tanh"` (1606.08415).

    ```mlir
    %y = nn.gelu %x {approximate = "tanh"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
    ```

    **Constraints**
    - (C1) `approximate` is `"none"` or `"tanh"`.
  }];
  let arguments = (ins NN_FloatTensor:$input,
                       DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$approximate);
}

def NN_SiluOp : NN_UnaryOp<"silu"> {
  let summary = "`x sigmoid(x)`";
  let description = [{
    ```mlir
    %y = nn.silu %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
}

def NN_ReluOp : NN_UnaryOp<"relu"> {
  let summary = "`max(x, 0)`, derivative 0 at 0";
  let description = [{
    ```mlir
    %y = nn.relu %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
}

def NN_SigmoidOp : NN_UnaryOp<"sigmoid"> {
  let summary = "`1 / (1 + exp(-x))`";
  let description = [{
    ```mlir
    %y = nn.sigmoid %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
}

def NN_StopGradientOp : NN_UnaryOp<"stop_gradient", ["getLinearity"]> {
  let summary = "The value, whose derivative is zero";
  let description = [{
    ```mlir
    %y = nn.stop_gradient %x : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input);
}

def NN_DropoutOp : NN_LinearOp<"dropout", [
    AllTypesMatch<["input", "result"]>,
    SplittableOpInterface,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "Drops elements at random and scales the rest";
  let description = [{
    Element i (row-major index in the *global* tensor) is kept iff its Philox
    word under `key` is below `⌊(1−rate)·2³²⌋`; kept elements are divided by
    `1 − rate`. So the mask depends neither on the sharding nor on
    recomputation. `place` says after partition where the block lies.

    ```mlir
    %y = nn.dropout %x, %key {rate = 0.1 : f32} : (tensor<8x64xf32>, tensor<2xi32>) -> tensor<8x64xf32>
    ```

    **Constraints**
    - (C1) `0 <= rate < 1`.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_Key:$key, F32Attr:$rate,
                       OptionalAttr<Dist_PlaceAttr>:$place);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $key attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_FoldInOp : NN_Op<"fold_in", [AllTypesMatch<["key", "result"]>]> {
  let summary = "Derives a key from a key and a number";
  let description = [{
    Words 0 and 1 of the Philox block with counter `(data, 0, 0, 1)` under `key`.

    ```mlir
    %k3 = nn.fold_in %key {data = 3 : i64} : (tensor<2xi32>) -> tensor<2xi32>
    ```

    **Constraints**
    - (C1) `0 <= data < 2³²`.
  }];
  let arguments = (ins NN_Key:$key, I64Attr:$data);
  let results = (outs NN_Key:$result);
  let assemblyFormat = [{
    $key attr-dict `:` functional-type($key, $result)
  }];
}

def NN_CheckedOp : NN_UnaryOp<"checked"> {
  let summary = "Ids, after a check that each is in range";
  let description = [{
    The operand unchanged. An id outside `[0, bound)` other than `ignore_index`
    ends the run with an error that names the step, the flat position, the id
    and `what`. Made where an op with an index operand is decomposed or divided,
    so that the check does not depend on the plan.

    ```mlir
    %l = nn.checked %ids {bound = 512 : i64, what = "cross_entropy"} : (tensor<8x16xi32>) -> tensor<8x16xi32>
    ```

    **Constraints**
    - (C1) `bound` is positive.
  }];
  let arguments = (ins NN_IdTensor:$input, I64Attr:$bound, StrAttr:$what,
                       OptionalAttr<I64Attr>:$ignore_index);
}

#endif // DIST_DIALECT_NN_IR_ELEMENTWISEOPS
