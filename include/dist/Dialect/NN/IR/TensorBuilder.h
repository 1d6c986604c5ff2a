//===- TensorBuilder.h - Formulas on tensors --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_TENSORBUILDER_H
#define DIST_DIALECT_NN_IR_TENSORBUILDER_H

#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dist::nn {

/// Builds elementwise and structural ops so that derivatives, decompositions
/// and optimizers read like the formulas they come from. Operands of a binary
/// op have equal types; a `double` stands for a constant of the other operand's
/// type.
class TensorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : ImplicitLocOpBuilder(loc, builder) {}

  /// A splat of `value` (rounded or truncated to the element type).
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value zeros(mlir::Type type) { return constant(type, 0.0); }

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, double b) {
    return add(a, constant(a.getType(), b));
  }
  mlir::Value sub(double a, mlir::Value b) {
    return sub(constant(b.getType(), a), b);
  }
  mlir::Value mul(mlir::Value a, double b) {
    return mul(a, constant(a.getType(), b));
  }
  mlir::Value neg(mlir::Value a) {
    return mlir::arith::NegFOp::create(*this, a);
  }
  mlir::Value exp(mlir::Value a) { return mlir::math::ExpOp::create(*this, a); }
  mlir::Value log(mlir::Value a) { return mlir::math::LogOp::create(*this, a); }
  mlir::Value sqrt(mlir::Value a) {
    return mlir::math::SqrtOp::create(*this, a);
  }
  mlir::Value rsqrt(mlir::Value a) {
    return mlir::math::RsqrtOp::create(*this, a);
  }
  mlir::Value tanh(mlir::Value a) {
    return mlir::math::TanhOp::create(*this, a);
  }

  /// Comparisons of floats (ordered) or integers (signed).
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value greater(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// 1 and 0 in the float element type of `type`.
  mlir::Value toFloat(mlir::Value condition, mlir::Type type);

  /// bf16 and f16 as f32, in which formulas are computed; others as they are.
  mlir::Value widen(mlir::Value a);
  /// Rounds `a`, a widened value, to the element type of `type`.
  mlir::Value narrow(mlir::Value a, mlir::Type type);

  /// The type of `type`'s shape without dimension `dim`.
  static mlir::RankedTensorType dropDim(mlir::Type type, int64_t dim);

  /// `kind` over dimension `dim`, which the result does not have.
  mlir::Value reduce(ReduceKind kind, mlir::Value a, int64_t dim);
  mlir::Value sum(mlir::Value a, int64_t dim) {
    return reduce(ReduceKind::Sum, a, dim);
  }
  /// Sum over all dimensions, a scalar tensor.
  mlir::Value sumAll(mlir::Value a);
  /// Sum over all dimensions but the last.
  mlir::Value sumLeading(mlir::Value a);

  /// Broadcasts `a` along a new dimension `dim` to `type`.
  mlir::Value repeat(mlir::Value a, int64_t dim, mlir::Type type);
  /// Broadcasts `a`, the last dimension of `type`, to `type`.
  mlir::Value repeatLeading(mlir::Value a, mlir::Type type);
  /// Broadcasts a scalar tensor to `type`.
  mlir::Value splat(mlir::Value scalar, mlir::Type type);

  /// Ops whose pattern is given as text; the result type is inferred where
  /// every name has a size.
  mlir::Value einsum(llvm::StringRef pattern, mlir::ValueRange operands,
                     mlir::Type result);
  mlir::Value reduce(ReduceKind kind, llvm::StringRef pattern, mlir::Value a,
                     mlir::Type result);
  mlir::Value repeat(llvm::StringRef pattern, mlir::Value a, mlir::Type result);
  mlir::Value rearrange(llvm::StringRef pattern, mlir::Value a,
                        mlir::Type result);

  PatternAttr pattern(llvm::StringRef text);
  /// The pattern from terms that are already parsed.
  PatternAttr pattern(llvm::ArrayRef<TermAttr> operands, TermAttr result);
};

} // namespace dist::nn

#endif // DIST_DIALECT_NN_IR_TENSORBUILDER_H
