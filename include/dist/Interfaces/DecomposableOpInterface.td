//===- DecomposableOpInterface.td - Ops made of simpler ops -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_DECOMPOSABLEOPINTERFACE
#define DIST_INTERFACES_DECOMPOSABLEOPINTERFACE

include "mlir/IR/OpBase.td"

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::dist";
  let description = [{
    An op that stands for a few reductions and elementwise ops (softmax, norms,
    cross-entropy). Sharding it is sharding those: a softmax over a divided
    dimension becomes a maximum and a sum over the axes that divide it. So the
    op is replaced by them on entry to the *sharded* phase.
  }];
  let extraClassOf = [{ return $_op.isComposite(); }];
  let methods = [
  InterfaceMethod<[{
    Whether this op is composite: an op of several kinds may be so in some (a
    mean is, a sum is not). Casts to the interface fail where it is not.
    }], "bool", "isComposite", (ins), "", [{ return true; }]>,
  InterfaceMethod<
    "Writes the simpler ops at `builder`; returns one value per result.",
    "::llvm::SmallVector<::mlir::Value>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>];
}

#endif // DIST_INTERFACES_DECOMPOSABLEOPINTERFACE
