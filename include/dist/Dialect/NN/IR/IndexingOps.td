//===- IndexingOps.td - Ops that read or make indices -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_INDEXINGOPS
#define DIST_DIALECT_NN_IR_INDEXINGOPS

include "dist/Dialect/NN/IR/NNBase.td"

def NN_EmbeddingOp : NN_LinearOp<"embedding", [
    DeclareOpInterfaceMethods<SplittableOpInterface, ["isSplittable"]>,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "Rows of a table";
  let description = [{
    Row `ids[…]` of a `v d` table, with `dist.logical` dims after v in general.
    An id outside of the table is an error at run time. With a `place` (after
    partition, of the table) ids are global and rows that this device does not
    hold read as 0: the result is a sum over devices.

    ```mlir
    %x = nn.embedding %table, %ids : (tensor<512x64xf32>, tensor<8x16xi32>) -> tensor<8x16x64xf32>
    ```

    **Constraints**
    - (C1) The result's shape is that of `ids`, then the table's without its
      first dimension, its element type the table's.
  }];
  let arguments = (ins NN_FloatTensor:$table, NN_IdTensor:$ids,
                       OptionalAttr<Dist_PlaceAttr>:$place);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $table `,` $ids attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_EmbeddingGradOp : NN_LinearOp<"embedding_grad", [
    DeclareOpInterfaceMethods<SplittableOpInterface, ["isSplittable"]>,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "Rows added into a table of zeros";
  let description = [{
    The derivative of `nn.embedding`, itself without one: row v of the result is the sum of the
    rows of `updates` whose id is v, in the order of the ids, so that the bits
    do not depend on threads. With a `place` (of the result) ids are global and
    those of other devices are left out.

    ```mlir
    %dw = nn.embedding_grad %ids, %dx : (tensor<8x16xi32>, tensor<8x16x64xf32>) -> tensor<512x64xf32>
    ```

    **Constraints**
    - (C1) The shape of `updates` is that of `ids`, then the result's without
      its first dimension, its element type the result's.
  }];
  let arguments = (ins NN_IdTensor:$ids, NN_FloatTensor:$updates,
                       OptionalAttr<Dist_PlaceAttr>:$place);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $ids `,` $updates attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_TakeOp : NN_LinearOp<"take"> {
  let summary = "Slices of a tensor at given indices";
  let description = [{
    `jnp.take(x, ids, axis=dim)`; an index outside is an error at run time.

    ```mlir
    %y = nn.take %x, %ids {dim = 1 : i64} : (tensor<8x16x4xf32>, tensor<3xi32>) -> tensor<8x3x4xf32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of `input`.
    - (C2) The result is the input's shape with `dim` replaced by the shape of
      `ids` and its element type.
  }];
  let arguments = (ins AnyRankedTensor:$input, NN_IdTensor:$ids, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $ids attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_GatherOp : NN_LinearOp<"gather"> {
  let summary = "Elements along a dimension at given indices";
  let description = [{
    `jnp.take_along_axis(x, indices, axis=dim)`; an index outside is an error at
    run time.

    ```mlir
    %y = nn.gather %x, %i {dim = 1 : i64} : (tensor<8x16xf32>, tensor<8x3xi32>) -> tensor<8x3xf32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of `input`; ranks are equal.
    - (C2) Other dimensions of `indices` and `input` agree; the result has the
      shape of `indices` and the input's element type.
  }];
  let arguments = (ins AnyRankedTensor:$input, NN_IdTensor:$indices, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $indices attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_ScatterAddOp : NN_LinearOp<"scatter_add"> {
  let summary = "Adds updates at given indices";
  let description = [{
    `input` with `updates[i]` added at `ids[i]` along `dim` (the adjoint of
    `nn.take`); where `ids` has the rank of `input` and the shape of `updates`,
    element by element (the adjoint of `nn.gather`). Added in the order of the
    ids. An index outside is an error at run time.

    ```mlir
    %y = nn.scatter_add %x, %ids, %u {dim = 0 : i64} : (tensor<16x4xf32>, tensor<3xi32>, tensor<3x4xf32>) -> tensor<16x4xf32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of `input`.
    - (C2) `updates` has the shape that `nn.take` or `nn.gather` would give; the
      result has the input's type.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_IdTensor:$ids,
                       NN_FloatTensor:$updates, I64Attr:$dim);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $ids `,` $updates attr-dict `:` functional-type(operands, $result)
  }];
}

def NN_ArgmaxOp : NN_Op<"argmax"> {
  let summary = "Index of the largest element";
  let description = [{
    Over `dim`, which the result does not have; ties go to the lower index.

    ```mlir
    %i = nn.argmax %x {dim = 1 : i64} : (tensor<8x16xf32>) -> tensor<8xi32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of the operand; the result lacks it.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim);
  let results = (outs NN_IdTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type($input, $result)
  }];
}

def NN_IotaOp : NN_Op<"iota", [
    DeclareOpInterfaceMethods<SplittableOpInterface, ["isSplittable", "buildSplit"]>,
    DeclareOpInterfaceMethods<LocalizableOpInterface>]> {
  let summary = "Positions along a dimension";
  let description = [{
    Element i of `dim` is i. With a `place` (after partition, of the result)
    positions are global.

    ```mlir
    %p = nn.iota {dim = 0 : i64} : () -> tensor<128xi32>
    ```

    **Constraints**
    - (C1) `dim` is a dimension of the result.
  }];
  let arguments = (ins I64Attr:$dim, OptionalAttr<Dist_PlaceAttr>:$place);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ attr-dict `:` functional-type(operands, $result) }];
}

#endif // DIST_DIALECT_NN_IR_INDEXINGOPS
