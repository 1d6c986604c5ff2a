//===- Math.cpp - Rule, derivative and cost of math ops -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "Elementwise.h"
#include "dist/Interfaces/ExternalModels.h"

using namespace mlir;
using namespace dist;
using dist::nn::TensorBuilder;

//===----------------------------------------------------------------------===//
// Derivatives: dy/dx of y = f(x)
//===----------------------------------------------------------------------===//

static Value expSlope(TensorBuilder &, Value, Value y) { return y; }
static Value expm1Slope(TensorBuilder &b, Value, Value y) {
  return b.add(y, 1.0);
}
static Value logSlope(TensorBuilder &b, Value x, Value) {
  return b.div(b.constant(x.getType(), 1.0), x);
}
static Value log1pSlope(TensorBuilder &b, Value x, Value) {
  return b.div(b.constant(x.getType(), 1.0), b.add(x, 1.0));
}
static Value sqrtSlope(TensorBuilder &b, Value, Value y) {
  return b.div(b.constant(y.getType(), 0.5), y);
}
static Value rsqrtSlope(TensorBuilder &b, Value, Value y) {
  return b.mul(b.mul(y, b.mul(y, y)), -0.5);
}
static Value tanhSlope(TensorBuilder &b, Value, Value y) {
  return b.sub(1.0, b.mul(y, y));
}
static Value erfSlope(TensorBuilder &b, Value x, Value) {
  return b.mul(b.exp(b.neg(b.mul(x, x))), 2.0 * llvm::numbers::inv_sqrtpi);
}
static Value sinSlope(TensorBuilder &b, Value x, Value) {
  return math::CosOp::create(b, x);
}
static Value cosSlope(TensorBuilder &b, Value x, Value) {
  return b.neg(math::SinOp::create(b, x));
}
/// The sign, 0 at 0.
static Value absSlope(TensorBuilder &b, Value x, Value) {
  Value zero = b.zeros(x.getType());
  return b.sub(b.toFloat(b.greater(x, zero), x.getType()),
               b.toFloat(b.greater(zero, x), x.getType()));
}

static Cotangents powVjp(TensorBuilder &b, math::PowFOp op, Value dy) {
  Value x = op.getLhs(), e = op.getRhs();
  Value zero = b.zeros(x.getType()), one = b.constant(x.getType(), 1.0);
  // x^0 is flat even at 0, where 0 · 0^-1 is not a number; 0^e is flat in e,
  // where the logarithm is infinite.
  Value slope = b.mul(e, math::PowFOp::create(b, x, b.sub(e, one)));
  Value dx = b.select(b.equal(e, zero), zero, slope);
  Value log = b.log(b.select(b.equal(x, zero), one, x));
  return {b.mul(dy, dx), b.mul(dy, b.mul(op.getResult(), log))};
}

//===----------------------------------------------------------------------===//
// The accepted ops
//===----------------------------------------------------------------------===//

/// What a polynomial of working precision costs.
static constexpr int64_t kTranscendentalFlops = 8;

template <typename OpTy, auto vjp, int64_t flops = kTranscendentalFlops>
static void attach(MLIRContext *context) {
  OpTy::template attachInterface<ElementwiseRule<OpTy>, Derivative<OpTy, vjp>,
                                 ElementwiseSplit<OpTy>,
                                 ElementwiseCost<OpTy, flops>>(*context);
}

static void attachModels(MLIRContext *context, math::MathDialect *) {
  attach<math::ExpOp, kSlope<expSlope>>(context);
  attach<math::ExpM1Op, kSlope<expm1Slope>>(context);
  attach<math::LogOp, kSlope<logSlope>>(context);
  attach<math::Log1pOp, kSlope<log1pSlope>>(context);
  attach<math::SqrtOp, kSlope<sqrtSlope>, 1>(context);
  attach<math::RsqrtOp, kSlope<rsqrtSlope>, 2>(context);
  attach<math::TanhOp, kSlope<tanhSlope>>(context);
  attach<math::ErfOp, kSlope<erfSlope>>(context);
  attach<math::SinOp, kSlope<sinSlope>>(context);
  attach<math::CosOp, kSlope<cosSlope>>(context);
  attach<math::AbsFOp, kSlope<absSlope>, 1>(context);
  attach<math::FloorOp, kNoDerivative, 1>(context);
  attach<math::CeilOp, kNoDerivative, 1>(context);
  attach<math::PowFOp, powVjp, 2 * kTranscendentalFlops>(context);
}

void dist::registerMathExternalModels(DialectRegistry &registry) {
  registry.addExtension(+attachModels);
}
