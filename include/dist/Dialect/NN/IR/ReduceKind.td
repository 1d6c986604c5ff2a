//===- ReduceKind.td - What a reduction computes ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_REDUCEKIND
#define DIST_DIALECT_NN_IR_REDUCEKIND

include "mlir/IR/EnumAttr.td"

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Mean", 3, "mean">]> {
  let cppNamespace = "::dist::nn";
}

#endif // DIST_DIALECT_NN_IR_REDUCEKIND
