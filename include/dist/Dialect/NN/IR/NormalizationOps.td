//===- NormalizationOps.td - Softmax, norms, cross-entropy --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_NORMALIZATIONOPS
#define DIST_DIALECT_NN_IR_NORMALIZATIONOPS

include "dist/Dialect/NN/IR/NNBase.td"

class NN_SoftmaxBase<string mnemonic>
    : NN_CompositeOp<mnemonic, [AllTypesMatch<["input", "result"]>]> {
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$dim);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
}

def NN_SoftmaxOp : NN_SoftmaxBase<"softmax"> {
  let summary = "Exponentials over their sum";
  let description = [{
    ```mlir
    %p = nn.softmax %x {dim = 3 : i64} : (tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of the operand.
  }];
}

def NN_LogSoftmaxOp : NN_SoftmaxBase<"log_softmax"> {
  let summary = "Logarithm of a softmax";
  let description = [{
    ```mlir
    %p = nn.log_softmax %x {dim = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of the operand.
  }];
}

def NN_LayerNormOp : NN_CompositeOp<"layer_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Mean 0 and variance 1 over the last dimension";
  let description = [{
    `(x − mean) / √(var + eps) · weight + bias`, the biased variance (1607.06450).

    ```mlir
    %y = nn.layer_norm %x, %g, %b {eps = 1.0e-5 : f32} : (tensor<8x16x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x16x64xf32>
    ```

    **Constraints**
    - (C1) `weight` and `bias` have the size of the last dimension and the
      element type of the operand.
    - (C2) `eps` is not negative.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight,
                       NN_FloatTensor:$bias, F32Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $bias attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_RmsNormOp : NN_CompositeOp<"rms_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Root mean square 1 over the last dimension";
  let description = [{
    `x / √(mean(x²) + eps) · weight` (1910.07467).

    ```mlir
    %y = nn.rms_norm %x, %g {eps = 1.0e-6 : f32} : (tensor<8x16x64xf32>, tensor<64xf32>) -> tensor<8x16x64xf32>
    ```

    **Constraints**
    - (C1) `weight` has the size of the last dimension and the element type of
      the operand.
    - (C2) `eps` is not negative.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, F32Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_CrossEntropyOp : NN_CompositeOp<"cross_entropy"> {
  let summary = "Loss per position over the last dimension";
  let description = [{
    `logsumexp(x) − x[label]`; with `label_smoothing = ε` PyTorch's
    `(1−ε)·loss + ε·(logsumexp(x) − mean(x))`; with `z_loss = c` plus
    `c·logsumexp(x)²`; 0 where the label is `ignore_index`. A label outside of
    the classes is an error at run time.

    ```mlir
    %l = nn.cross_entropy %logits, %labels {ignore_index = -100 : i64} : (tensor<8x16x512xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
    ```

    **Constraints**
    - (C1) `labels` and the result have the shape of `logits` without its last
      dimension, the result its element type.
    - (C2) `0 <= label_smoothing < 1`; `z_loss` is not negative.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IdTensor:$labels,
                       OptionalAttr<I64Attr>:$ignore_index,
                       OptionalAttr<F32Attr>:$label_smoothing,
                       OptionalAttr<F32Attr>:$z_loss);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels attr-dict `:` functional-type(operands, $result)
  }];
}

#endif // DIST_DIALECT_NN_IR_NORMALIZATIONOPS
