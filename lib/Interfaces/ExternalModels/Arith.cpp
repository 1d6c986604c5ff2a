//===- Arith.cpp - Rule, derivative and cost of arith ops -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "Elementwise.h"
#include "dist/Interfaces/ExternalModels.h"

using namespace mlir;
using namespace dist;
using dist::nn::TensorBuilder;
using enum dist::Linearity;

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

static Cotangents addVjp(TensorBuilder &, arith::AddFOp, Value dy) {
  return {dy, dy};
}

static Cotangents subVjp(TensorBuilder &b, arith::SubFOp, Value dy) {
  return {dy, b.neg(dy)};
}

static Cotangents mulVjp(TensorBuilder &b, arith::MulFOp op, Value dy) {
  return {b.mul(dy, op.getRhs()), b.mul(dy, op.getLhs())};
}

static Cotangents divVjp(TensorBuilder &b, arith::DivFOp op, Value dy) {
  Value dx = b.div(dy, op.getRhs());
  return {dx, b.neg(b.mul(dx, op.getResult()))};
}

static Cotangents negVjp(TensorBuilder &b, arith::NegFOp, Value dy) {
  return {b.neg(dy)};
}

/// The cotangents of a maximum: `dy` where `wins(x, y)`, half of it where
/// equal.
static Cotangents shareVjp(TensorBuilder &b, Value x, Value y, Value isFirst,
                           Value dy) {
  Value half = b.mul(dy, 0.5), zero = b.zeros(dy.getType());
  Value isTie = b.equal(x, y);
  return {b.select(isTie, half, b.select(isFirst, dy, zero)),
          b.select(isTie, half, b.select(isFirst, zero, dy))};
}

static Cotangents maxVjp(TensorBuilder &b, arith::MaximumFOp op, Value dy) {
  Value x = op.getLhs(), y = op.getRhs();
  return shareVjp(b, x, y, b.greater(x, y), dy);
}

static Cotangents minVjp(TensorBuilder &b, arith::MinimumFOp op, Value dy) {
  Value x = op.getLhs(), y = op.getRhs();
  return shareVjp(b, x, y, b.greater(y, x), dy);
}

static Cotangents selectVjp(TensorBuilder &b, arith::SelectOp op, Value dy) {
  Value c = op.getCondition(), zero = b.zeros(dy.getType());
  return {Value(), b.select(c, dy, zero), b.select(c, zero, dy)};
}

static Cotangents extVjp(TensorBuilder &b, arith::ExtFOp op, Value dy) {
  return {arith::TruncFOp::create(b, op.getIn().getType(), dy)};
}

static Cotangents truncVjp(TensorBuilder &b, arith::TruncFOp op, Value dy) {
  return {arith::ExtFOp::create(b, op.getIn().getType(), dy)};
}

//===----------------------------------------------------------------------===//
// The accepted ops
//===----------------------------------------------------------------------===//

template <typename OpTy, auto vjp, Linearity... linearities>
static void attach(MLIRContext *context) {
  OpTy::template attachInterface<ElementwiseRule<OpTy, linearities...>,
                                 Derivative<OpTy, vjp>, ElementwiseSplit<OpTy>,
                                 ElementwiseCost<OpTy, 1>>(*context);
}

/// Ops on integers, comparisons and casts from or to integers.
template <typename... OpTys>
static void attachDiscrete(MLIRContext *context) {
  (attach<OpTys, kNoDerivative>(context), ...);
}

namespace {
/// A constant's elements are row-major, however its dimensions are spelt.
struct ConstantSplit
    : SplittableOpInterface::ExternalModel<ConstantSplit, arith::ConstantOp> {
  Operation *buildSplit(Operation *op, OpBuilder &builder, ValueRange,
                        TypeRange types, const FactorSplit &) const {
    auto value =
        cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return arith::ConstantOp::create(
        builder, op->getLoc(), value.reshape(cast<ShapedType>(types.front())));
  }
};
} // namespace

static void attachModels(MLIRContext *context, arith::ArithDialect *) {
  attach<arith::AddFOp, addVjp, Jointly, Jointly>(context);
  attach<arith::SubFOp, subVjp, Jointly, Jointly>(context);
  attach<arith::MulFOp, mulVjp, Alone, Alone>(context);
  attach<arith::DivFOp, divVjp, Alone, No>(context);
  attach<arith::NegFOp, negVjp, Alone>(context);
  attach<arith::MaximumFOp, maxVjp>(context);
  attach<arith::MinimumFOp, minVjp>(context);
  attach<arith::SelectOp, selectVjp, No, Jointly, Jointly>(context);
  attach<arith::ExtFOp, extVjp, Alone>(context);
  attach<arith::TruncFOp, truncVjp>(context); // rounds, and so does not add up
  attach<arith::AddIOp, kNoDerivative, Jointly, Jointly>(context);
  attach<arith::SubIOp, kNoDerivative, Jointly, Jointly>(context);
  attach<arith::MulIOp, kNoDerivative, Alone, Alone>(context);
  attachDiscrete<arith::CmpFOp, arith::CmpIOp, arith::SIToFPOp, arith::UIToFPOp,
                 arith::FPToSIOp, arith::DivSIOp, arith::RemSIOp, arith::AndIOp,
                 arith::OrIOp, arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp,
                 arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(context);
  arith::ConstantOp::attachInterface<
      ElementwiseRule<arith::ConstantOp>,
      Derivative<arith::ConstantOp, kNoDerivative>, ConstantSplit,
      ElementwiseCost<arith::ConstantOp, 0>>(*context);
}

void dist::registerArithExternalModels(DialectRegistry &registry) {
  registry.addExtension(+attachModels);
}
