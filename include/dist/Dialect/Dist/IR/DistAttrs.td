//===- DistAttrs.td - Axes, shardings, places ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_DIST_IR_DISTATTRS
#define DIST_DIALECT_DIST_IR_DISTATTRS

include "dist/Interfaces/Monoid.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::dist";
  let summary = "Where tensors are: meshes, shardings, collectives";
  let description = [{
    Names the devices (`dist.mesh`), says how a tensor is split over them (the
    type's encoding `#dist.sharding`) and moves data between them. A program
    without any of it is a program for one device.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class Dist_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Dist_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Dist_AxisAttr : Dist_Attr<"Axis", "axis"> {
  let summary = "A mesh axis, or a part of one";
  let description = [{
    `"tp"` is the whole axis. `"tp":(2)4` is a sub-axis: of the axis's devices,
    seen as a row-major grid `2 x 4 x rest`, the dimension of size 4. So
    `"tp":(1)2` is the major half of `tp`. `pre` and `size` are 0 for a whole
    axis, whose size only the mesh knows.
  }];
  let parameters = (ins "mlir::StringAttr":$name, "int64_t":$pre,
                        "int64_t":$size);
  let builders = [AttrBuilder<(ins "mlir::StringAttr":$name), [{
    return $_get($_ctxt, name, 0, 0);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isWhole() const { return getSize() == 0; }
  }];
}

def Dist_AxesAttr : Dist_Attr<"Axes", "axes"> {
  let summary = "Mesh axes, major to minor";
  let parameters = (ins OptionalArrayRefParameter<"AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool empty() const { return getAxes().empty(); }
  }];
}

def Dist_ShardingAttr : Dist_Attr<"Sharding", "sharding", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "How one tensor is split over a mesh";
  let description = [{
    `dims[i]` lists the axes that split dimension `i`, major to minor; an empty
    list means that the dimension is whole on every device. `partial` lists the
    axes over which a reduction is still owed: the tensor is the sum (max, min)
    of what the devices along them hold.

    ```mlir
    tensor<8x128x64xf32, #dist.sharding<@mesh, [["dp"], [], ["tp"]]>>
    tensor<8x128xf32, #dist.sharding<@mesh, [["dp"], []], partial sum ["tp"]>>
    tensor<8xf32, #dist.sharding<@mesh, [["tp":(1)2]]>>
    ```

    Each level of a split takes the ceiling, major to minor: 5 elements over
    axes of 2 and 2 lie as 2, 1, 2, 0.

    **Constraints**
    - (C1) `size(dims)` is the rank of the tensor.
    - (C2) Every axis exists in the mesh (checked where the mesh is known).
    - (C3) No axis, and no overlapping parts of one, occurs twice.
  }];
  let parameters = (ins "mlir::FlatSymbolRefAttr":$mesh,
                        OptionalArrayRefParameter<"AxesAttr">:$dims,
                        "Monoid":$monoid, "AxesAttr":$partial);
  let builders = [
    AttrBuilder<(ins "mlir::FlatSymbolRefAttr":$mesh,
                     "llvm::ArrayRef<AxesAttr>":$dims), [{
      return $_get($_ctxt, mesh, dims, Monoid::Sum, AxesAttr::get($_ctxt, {}));
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isPartial() const { return !getPartial().empty(); }
    /// The same split with nothing owed.
    ShardingAttr dropPartial() const;
    /// True if no axis splits a dimension and nothing is owed.
    bool isReplicated() const;
  }];
}

def Dist_LocalAttr : Dist_Attr<"Local", "local", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "How a local tensor relates to its peers";
  let description = [{
    After partition a type has its local shape; this encoding keeps along which
    axes the devices hold different values (`varying`) or parts of a reduction
    (`partial`). No encoding: equal on all devices.

    ```mlir
    tensor<4x128xf32, #dist.local<varying ["dp"], partial sum ["tp"]>>
    ```
  }];
  let parameters = (ins "AxesAttr":$varying, "Monoid":$monoid,
                        "AxesAttr":$partial);
  let hasCustomAssemblyFormat = 1;
}

def Dist_PlaceAttr : Dist_Attr<"Place", "place"> {
  let summary = "Where a local block lies in its global tensor";
  let description = [{
    What an op whose result depends on global positions (dropout masks, iota,
    rows of a table) needs to know after partition: the global shape and the
    axes that split each dimension.

    ```mlir
    nn.iota {dim = 0 : i64, place = #dist.place<@mesh, [["tp"]], [512]>} : () -> tensor<256xi32>
    ```
  }];
  let parameters = (ins "mlir::FlatSymbolRefAttr":$mesh,
                        OptionalArrayRefParameter<"AxesAttr">:$dims,
                        OptionalArrayRefParameter<"int64_t">:$shape);
  let hasCustomAssemblyFormat = 1;
}

#endif // DIST_DIALECT_DIST_IR_DISTATTRS
