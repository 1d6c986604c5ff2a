//===- NNBase.td - What every nn op shares ------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_NNBASE
#define DIST_DIALECT_NN_IR_NNBASE

include "dist/Dialect/Dist/IR/DistAttrs.td"
include "dist/Interfaces/CostOpInterface.td"
include "dist/Interfaces/DecomposableOpInterface.td"
include "dist/Interfaces/DifferentiableOpInterface.td"
include "dist/Interfaces/LocalizableOpInterface.td"
include "dist/Interfaces/ShardingRuleOpInterface.td"
include "dist/Interfaces/SplittableOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::dist::nn";
  let summary = "The ops of a transformer that arith and math cannot say";
  let description = [{
    Tensors are ranked and static. Elementwise arithmetic is upstream `arith`
    and `math` on tensors of equal shape. An op refuses every attribute that it
    does not define, a function argument every unknown `nn.` attribute.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::dist::DistDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

def NN_PatternAttr : AttrDef<NN_Dialect, "Pattern"> {
  let mnemonic = "pattern";
  let summary = "An einops pattern";
  let description = [{
    Written as a string in front of an op's operands: terms separated by `,`,
    then `->` and the result's term. A term lists dimensions; a dimension is a
    name, `1`, or several names in `()`, major to minor.

    ```mlir
    nn.rearrange "b s (h k) -> b h s k"(%x) {h = 8 : i64} : …
    ```

    **Constraints**
    - (C1) A name occurs at most once in a term.
    - (C2) Every name of the result occurs in an operand (in a repeat it may be
      new).
    - (C3) A name is neither `kind` nor `pattern`: sizes of names are written as
      attributes, among which these are taken.
  }];
  let parameters = (ins OptionalArrayRefParameter<"TermAttr">:$operands,
                        "TermAttr":$result);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Parses einops text; null, after an error, where it is malformed.
    static PatternAttr
    parseText(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
              ::mlir::MLIRContext *context, ::llvm::StringRef text);
    /// The text that `parseText` reads.
    std::string getText() const;
  }];
}

def NN_TermAttr : AttrDef<NN_Dialect, "Term"> {
  let mnemonic = "term";
  let summary = "The dimensions of one tensor of a pattern";
  let description = [{
    `dims[i]` is an array of the names (strings) in dimension i, major to minor;
    empty for a unit dimension.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::ArrayAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// All names, in order of occurrence.
    ::llvm::SmallVector<::llvm::StringRef> getNames() const;
    bool hasName(::llvm::StringRef name) const;
    /// `b s (h k)`
    std::string getText() const;
  }];
}

/// Refuses discardable attributes that are neither known `nn.`/`dist.` ones
/// nor, on ops with a pattern, sizes of its names.
def NN_NoUnknownAttributes : NativeOpTrait<"NoUnknownAttributes"> {
  let cppNamespace = "::dist::nn";
}

class NN_OpBase<string mnemonic, list<Trait> traits, list<string> ruleMethods>
    : Op<NN_Dialect, mnemonic, !listconcat(traits, [
        Pure, NN_NoUnknownAttributes,
        DeclareOpInterfaceMethods<ShardingRuleOpInterface, ruleMethods>,
        DeclareOpInterfaceMethods<DifferentiableOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface>])> {
  let hasVerifier = 1;
}

class NN_Op<string mnemonic, list<Trait> traits = []>
    : NN_OpBase<mnemonic, traits, []>;

/// An op that is linear in some of its operands and says in which.
class NN_LinearOp<string mnemonic, list<Trait> traits = []>
    : NN_OpBase<mnemonic, traits, ["getLinearity"]>;

/// An op that stands for reductions and elementwise ops.
class NN_CompositeOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<DecomposableOpInterface>])>;

def NN_FloatTensor : StaticShapeTensorOf<[F64, F32, BF16, F16]>;
def NN_IdTensor : StaticShapeTensorOf<[I32, I64]>;
def NN_Key : Type<And<[RankedTensorOf<[I32]>.predicate,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getShape() == ::llvm::ArrayRef<int64_t>({2})">]>,
    "random key (tensor<2xi32>)", "::mlir::RankedTensorType">;

def NN_NumberAttr : Attr<
    CPred<"::llvm::isa<::mlir::FloatAttr, ::mlir::IntegerAttr>($_self)">,
    "number with a type"> {
  let storageType = "::mlir::TypedAttr";
  let returnType = "::mlir::TypedAttr";
  let convertFromStorage = "$_self";
}

#endif // DIST_DIALECT_NN_IR_NNBASE
