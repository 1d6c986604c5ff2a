//===- Elementwise.h - Models of ops that work by element -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_INTERFACES_EXTERNALMODELS_ELEMENTWISE_H
#define DIST_LIB_INTERFACES_EXTERNALMODELS_ELEMENTWISE_H

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace dist {

/// One cotangent per operand, null where there is none.
using Cotangents = llvm::SmallVector<mlir::Value>;

/// Rule of an elementwise op; `linearities` are those of its operands, `No` for
/// those not listed.
template <typename OpTy, Linearity... linearities>
struct ElementwiseRule : ShardingRuleOpInterface::ExternalModel<
                             ElementwiseRule<OpTy, linearities...>, OpTy> {
  ShardingRule getShardingRule(mlir::Operation *op) const {
    return ShardingRule::elementwise(op);
  }
  Linearity getLinearity(mlir::Operation *, unsigned operand) const {
    constexpr Linearity kLinearities[] = {linearities..., Linearity::No};
    return kLinearities[std::min<size_t>(operand, sizeof...(linearities))];
  }
};

/// Any factor of an elementwise op may be several dimensions.
template <typename OpTy>
struct ElementwiseSplit
    : SplittableOpInterface::ExternalModel<ElementwiseSplit<OpTy>, OpTy> {};

/// `flops` per element of the result.
template <typename OpTy, int64_t flops>
struct ElementwiseCost
    : CostOpInterface::ExternalModel<ElementwiseCost<OpTy, flops>, OpTy> {
  int64_t getFlops(mlir::Operation *op) const {
    auto type = mlir::dyn_cast<mlir::ShapedType>(op->getResult(0).getType());
    return type ? flops * type.getNumElements() : flops;
  }
};

/// The derivative `vjp(TensorBuilder &, OpTy, cotangent) -> Cotangents`; a
/// result that is not a float has none.
template <typename OpTy, auto vjp>
struct Derivative
    : DifferentiableOpInterface::ExternalModel<Derivative<OpTy, vjp>, OpTy> {
  llvm::FailureOr<Cotangents> buildVjp(mlir::Operation *op,
                                       mlir::OpBuilder &builder,
                                       mlir::ValueRange cotangents) const {
    mlir::Type element = mlir::getElementTypeOrSelf(op->getResult(0));
    if (!mlir::isa<mlir::FloatType>(element))
      return Cotangents(op->getNumOperands());
    nn::TensorBuilder b(builder, op->getLoc());
    return vjp(b, mlir::cast<OpTy>(op), cotangents[0]);
  }
};

/// The derivative of an op whose result does not vary smoothly: none.
inline constexpr auto kNoDerivative = [](nn::TensorBuilder &,
                                         mlir::Operation *op, mlir::Value) {
  return Cotangents(op->getNumOperands());
};

/// The derivative of a unary op as `slope(TensorBuilder &, operand, result)`,
/// which the cotangent is multiplied by.
template <auto slope>
inline constexpr auto kSlope = [](nn::TensorBuilder &b, mlir::Operation *op,
                                  mlir::Value dy) {
  return Cotangents{b.mul(dy, slope(b, op->getOperand(0), op->getResult(0)))};
};

} // namespace dist

#endif // DIST_LIB_INTERFACES_EXTERNALMODELS_ELEMENTWISE_H
