//===- SplittableOpInterface.td - Dims that may be split ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_SPLITTABLEOPINTERFACE
#define DIST_INTERFACES_SPLITTABLEOPINTERFACE

include "mlir/IR/OpBase.td"

def SplittableOpInterface : OpInterface<"SplittableOpInterface"> {
  let cppNamespace = "::dist";
  let description = [{
    An op that can be written with a factor of its sharding rule spelt as
    several dimensions, major to minor. An op without it sees its dimensions
    as they are written.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns true if `factor` of the op's rule may become several dimensions.
      }],
      "bool", "isSplittable", (ins "unsigned":$factor), "", [{
        return !::llvm::cast<::dist::ShardingRuleOpInterface>(
          $_op.getOperation()).getShardingRule().factors[factor].isWhole;
      }]>,
    InterfaceMethod<[{
      Returns true if a dimension that stays whole in one operand or result must
      stay whole in all: the op's attributes speak of all of them at once.
      }],
      "bool", "splitsTensorsAlike", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Writes the op with `operands` and `resultTypes`, whose dimensions are
      spelt as `split` says. By default a copy with other types.
      }],
      "::mlir::Operation *", "buildSplit",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$resultTypes, "const ::dist::FactorSplit &":$split),
      "", [{
        return ::dist::cloneWithTypes($_op, builder, operands, resultTypes);
      }]>];
}

#endif // DIST_INTERFACES_SPLITTABLEOPINTERFACE
