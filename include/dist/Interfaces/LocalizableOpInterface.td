//===- LocalizableOpInterface.td - Ops that know positions --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_LOCALIZABLEOPINTERFACE
#define DIST_INTERFACES_LOCALIZABLEOPINTERFACE

include "mlir/IR/OpBase.td"

def LocalizableOpInterface : OpInterface<"LocalizableOpInterface"> {
  let cppNamespace = "::dist";
  let description = [{
    An op whose attributes speak of sizes or positions, and so are not the same
    on a block of a tensor: masks and positions follow the global index.
  }];
  let methods = [InterfaceMethod<[{
      Called on the copy of the op that partition made, which has local types:
      adapts the attributes. The types are those
      before, global and with shardings.
      }],
      "void", "localize", (ins "::mlir::TypeRange":$operandTypes,
                               "::mlir::TypeRange":$resultTypes)>];
}

#endif // DIST_INTERFACES_LOCALIZABLEOPINTERFACE
