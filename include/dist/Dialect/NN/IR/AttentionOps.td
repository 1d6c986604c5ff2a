//===- AttentionOps.td - Attention and rotary positions -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_ATTENTIONOPS
#define DIST_DIALECT_NN_IR_ATTENTIONOPS

include "dist/Dialect/NN/IR/NNBase.td"

def NN_AttentionOp : NN_Op<"attention", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["exposeResiduals"]>,
    DeclareOpInterfaceMethods<SplittableOpInterface, ["isSplittable"]>,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    q `b h s d`; k `b g t d` and v `b g t e`, where g divides h and query head j
    uses kv head `j·g/h`; the result is `b h s e`. After factors have become
    dimensions q is `b g r s d` (query head `g r`) and the result `b g r s e`.

    Scores are scaled, capped (`softcap·tanh(score/softcap)`), biased and
    masked, in this order. `causal` lets position s see t <= s; `window` w (with
    `causal`) the last w positions, its own included; `segment_ids` (`b s`)
    positions of equal id. `bias` broadcasts to `b h s t`. `dropout` with `key`
    drops probabilities by their index in `b h s t`; after partition `place`
    says where the block of scores lies in it. A row that may attend to
    nothing gives 0 and gradient 0. The optional second result is the
    log-sum-exp of each row (`b h s` or `b g r s`), -inf where nothing is seen.

    ```mlir
    %o = nn.attention %q, %k, %v {causal, scale = 0.125 : f32}
      : (tensor<8x4x16x64xf32>, tensor<8x2x16x64xf32>, tensor<8x2x16x64xf32>) -> tensor<8x4x16x64xf32>
    ```

    **Constraints**
    - (C1) Shapes are as above; g divides h.
    - (C2) `window` is positive and needs `causal`; `softcap` is positive.
    - (C3) `dropout` is in [0, 1) and needs `key`.
    - (C4) `segment_ids` needs s = t.
  }];
  let arguments = (ins NN_FloatTensor:$q, NN_FloatTensor:$k, NN_FloatTensor:$v,
                       Optional<NN_FloatTensor>:$bias,
                       Optional<NN_IdTensor>:$segment_ids, Optional<NN_Key>:$key,
                       UnitAttr:$causal, F32Attr:$scale,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<F32Attr>:$softcap,
                       OptionalAttr<F32Attr>:$dropout,
                       OptionalAttr<Dist_PlaceAttr>:$place);
  let results = (outs NN_FloatTensor:$result, Optional<NN_FloatTensor>:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`bias` `(` $bias^ `)`)?
    (`segment_ids` `(` $segment_ids^ `)`)? (`key` `(` $key^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def NN_AttentionGradOp : NN_Op<"attention_grad", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SplittableOpInterface, ["isSplittable"]>,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "The gradients of an attention";
  let description = [{
    From the operands and results of `nn.attention` and the cotangent of its
    result: the cotangents of q, k, v and, with `bias`, of the bias.

    ```mlir
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %o, %lse, %do {causal, scale = 0.125 : f32} : …
    ```

    Lifespan: made by the derivative of `nn.attention`.

    **Constraints**
    - (C1) Shapes are those of the attention.
  }];
  let arguments = (ins NN_FloatTensor:$q, NN_FloatTensor:$k, NN_FloatTensor:$v,
                       NN_FloatTensor:$out, NN_FloatTensor:$lse,
                       NN_FloatTensor:$grad,
                       Optional<NN_FloatTensor>:$bias,
                       Optional<NN_IdTensor>:$segment_ids, Optional<NN_Key>:$key,
                       UnitAttr:$causal, F32Attr:$scale,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<F32Attr>:$softcap,
                       OptionalAttr<F32Attr>:$dropout,
                       OptionalAttr<Dist_PlaceAttr>:$place);
  let results = (outs NN_FloatTensor:$dq, NN_FloatTensor:$dk, NN_FloatTensor:$dv,
                      Optional<NN_FloatTensor>:$dbias);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $grad (`bias` `(` $bias^ `)`)?
    (`segment_ids` `(` $segment_ids^ `)`)? (`key` `(` $key^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def NN_RopeOp : NN_LinearOp<"rope", [
    AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<SplittableOpInterface, ["isSplittable"]>]> {
  let summary = "Rotary position embedding";
  let description = [{
    Rotates pairs of the last dimension of x `b h s d` (or, after factors have
    become dimensions, `b g r s d`) by angles `pos · theta^(−2i/dims)`, computed
    in f64 and rounded once. `positions` is `s` or `b s`. Pairs are (i, i +
    dims/2), or neighbours if `interleaved`; only the first `dims` (all by
    default) are rotated. `freqs` (dims/2) replaces the powers of theta.
    `inverse` rotates back: it is the derivative. (2104.09864)

    ```mlir
    %y = nn.rope %x, %pos {theta = 1.0e4 : f32} : (tensor<8x4x16x64xf32>, tensor<16xi32>) -> tensor<8x4x16x64xf32>
    ```

    **Constraints**
    - (C1) `positions` is `s` or `b s`.
    - (C2) `dims` is even, positive and at most d.
    - (C3) Exactly one of `theta` (positive) and `freqs` (dims/2) is given.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_IdTensor:$positions,
                       Optional<NN_FloatTensor>:$freqs,
                       OptionalAttr<F32Attr>:$theta, OptionalAttr<I64Attr>:$dims,
                       UnitAttr:$interleaved, UnitAttr:$inverse);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $positions (`freqs` `(` $freqs^ `)`)? attr-dict `:` functional-type(operands, $result)
  }];
}

#endif // DIST_DIALECT_NN_IR_ATTENTIONOPS
