//===- ScalarBody.cpp - Elementwise ops on one element --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarBody.h"
#include "OpLowerings.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include <numbers>

using namespace mlir;
using namespace dist;

bool dist::hasScalarBody(Operation *op) {
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  if (lowering && lowering->element)
    return true;
  return isa_and_present<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         !isa<arith::ConstantOp>(op) && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

static Value constant(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

static Value buildSigmoid(ImplicitLocOpBuilder &b, Value x) {
  Value one = constant(b, x.getType(), 1);
  Value e = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, e));
}

/// The tanh form as `x · sigmoid(2 √(2/π) (x + 0.044715 x³))`: one exponential
/// is cheaper than a hyperbolic tangent.
static Value buildGelu(ImplicitLocOpBuilder &b, Value x, bool isTanh) {
  Type type = x.getType();
  auto mul = [&](Value l, Value r) -> Value {
    return arith::MulFOp::create(b, l, r);
  };
  if (isTanh) {
    Value cube = mul(mul(x, x), mul(x, constant(b, type, 0.044715)));
    Value z = mul(arith::AddFOp::create(b, x, cube),
                  constant(b, type, 2 * std::sqrt(2 * std::numbers::inv_pi)));
    return mul(x, buildSigmoid(b, z));
  }
  Value z = mul(x, constant(b, type, 1 / std::numbers::sqrt2));
  Value phi =
      arith::AddFOp::create(b, constant(b, type, 1), math::ErfOp::create(b, z));
  return mul(mul(x, constant(b, type, 0.5)), phi);
}

static Value buildElement(ImplicitLocOpBuilder &b, nn::GeluOp op,
                          ValueRange elements) {
  return buildGelu(b, elements[0], op.getApproximate() == "tanh");
}

static Value buildElement(ImplicitLocOpBuilder &b, nn::SiluOp,
                          ValueRange elements) {
  return arith::MulFOp::create(b, elements[0], buildSigmoid(b, elements[0]));
}

static Value buildElement(ImplicitLocOpBuilder &b, nn::SigmoidOp,
                          ValueRange elements) {
  return buildSigmoid(b, elements[0]);
}

static Value buildElement(ImplicitLocOpBuilder &b, nn::ReluOp,
                          ValueRange elements) {
  return arith::MaximumFOp::create(b, elements[0],
                                   constant(b, elements[0].getType(), 0));
}

void dist::populateScalarLowerings(OpLowerings &lowerings) {
  lowerings.addElement<nn::GeluOp>(buildElement);
  lowerings.addElement<nn::SiluOp>(buildElement);
  lowerings.addElement<nn::SigmoidOp>(buildElement);
  lowerings.addElement<nn::ReluOp>(buildElement);
}

/// Ops of `arith` and `math` are what they are on an element.
Value dist::buildScalarBody(ImplicitLocOpBuilder &b, Operation *op,
                            ValueRange elements) {
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  if (lowering && lowering->element)
    return lowering->element(b, op, elements);
  OperationState state(b.getLoc(), op->getName(), elements,
                       {getElementTypeOrSelf(op->getResult(0).getType())});
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}

SmallVector<Value, 4> dist::buildPhilox(ImplicitLocOpBuilder &b,
                                        SmallVector<Value, 4> counter,
                                        Value key0, Value key1) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto word = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
  };
  Value half = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
  auto multiply = [&](uint32_t factor, Value x) {
    Value wide = arith::MulIOp::create(
        b, arith::ExtUIOp::create(b, i64, x),
        arith::ConstantOp::create(b, b.getI64IntegerAttr(factor)));
    Value high =
        arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, wide, half));
    return std::pair<Value, Value>(high, arith::TruncIOp::create(b, i32, wide));
  };
  auto mix = [&](Value x, Value y, Value z) -> Value {
    return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), z);
  };
  for (int round = 0; round < 10; ++round) {
    auto [high0, low0] = multiply(0xD2511F53u, counter[0]);
    auto [high1, low1] = multiply(0xCD9E8D57u, counter[2]);
    counter = {mix(high1, counter[1], key0), low1, mix(high0, counter[3], key1),
               low0};
    key0 = arith::AddIOp::create(b, key0, word(0x9E3779B9u));
    key1 = arith::AddIOp::create(b, key1, word(0xBB67AE85u));
  }
  return counter;
}
