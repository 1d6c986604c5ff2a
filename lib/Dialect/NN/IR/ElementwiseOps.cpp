//===- ElementwiseOps.cpp - Activations, dropout, checks ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

/// `derivative`, computed from `input` in at least f32, times the cotangent.
static SmallVector<Value>
chain(OpBuilder &builder, Location loc, Value input, Value cotangent,
      llvm::function_ref<Value(TensorBuilder &, Value)> derivative) {
  TensorBuilder b(builder, loc);
  Value slope = derivative(b, b.widen(input));
  return {b.narrow(b.mul(b.widen(cotangent), slope), input.getType())};
}

static int64_t flopsPerElement(Value tensor, int64_t flops) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements() * flops;
}

//===----------------------------------------------------------------------===//
// GeluOp
//===----------------------------------------------------------------------===//

LogicalResult GeluOp::verify() {
  StringRef form = getApproximate();
  if (form != "none" && form != "tanh") // C1
    return emitOpError("expects 'approximate' to be \"none\" or \"tanh\", but "
                       "it is \"")
           << form << "\"";
  return success();
}

ShardingRule GeluOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

/// Φ(x) + x φ(x)
static Value erfGeluSlope(TensorBuilder &b, Value x) {
  Value scaled = b.mul(x, llvm::numbers::inv_sqrt2);
  Value cdf = b.mul(b.add(math::ErfOp::create(b, scaled), 1.0), 0.5);
  Value square = b.mul(x, x);
  Value pdf = b.mul(b.exp(b.mul(square, -0.5)),
                    llvm::numbers::inv_sqrtpi * llvm::numbers::inv_sqrt2);
  return b.add(cdf, b.mul(x, pdf));
}

/// (1 + t)/2 + x/2 (1 − t²) u', where t = tanh(u), u = √(2/π) (x + 0.044715 x³)
static Value tanhGeluSlope(TensorBuilder &b, Value x) {
  const double scale = llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi;
  const double cubic = 0.044715;
  Value square = b.mul(x, x);
  Value u = b.mul(b.mul(x, b.add(b.mul(square, cubic), 1.0)), scale);
  Value t = b.tanh(u);
  Value inner = b.mul(b.add(b.mul(square, 3 * cubic), 1.0), scale);
  Value sech2 = b.sub(1.0, b.mul(t, t));
  Value tail = b.mul(b.mul(x, sech2), inner);
  return b.mul(b.add(b.add(t, 1.0), tail), 0.5);
}

FailureOr<SmallVector<Value>> GeluOp::buildVjp(OpBuilder &builder,
                                               ValueRange cotangents) {
  return chain(builder, getLoc(), getInput(), cotangents.front(),
               getApproximate() == "tanh" ? tanhGeluSlope : erfGeluSlope);
}

int64_t GeluOp::getFlops() { return flopsPerElement(getInput(), 8); }

//===----------------------------------------------------------------------===//
// SiluOp
//===----------------------------------------------------------------------===//

LogicalResult SiluOp::verify() { return success(); }

ShardingRule SiluOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

/// σ (1 + x (1 − σ))
static Value siluSlope(TensorBuilder &b, Value x) {
  Value sigmoid = SigmoidOp::create(b, x.getType(), x);
  return b.mul(sigmoid, b.add(b.mul(x, b.sub(1.0, sigmoid)), 1.0));
}

FailureOr<SmallVector<Value>> SiluOp::buildVjp(OpBuilder &builder,
                                               ValueRange cotangents) {
  return chain(builder, getLoc(), getInput(), cotangents.front(), siluSlope);
}

int64_t SiluOp::getFlops() { return flopsPerElement(getInput(), 4); }

//===----------------------------------------------------------------------===//
// ReluOp
//===----------------------------------------------------------------------===//

LogicalResult ReluOp::verify() { return success(); }

ShardingRule ReluOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

FailureOr<SmallVector<Value>> ReluOp::buildVjp(OpBuilder &builder,
                                               ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  Value zeros = b.zeros(getInput().getType());
  Value passes = b.greater(getInput(), zeros);
  return SmallVector<Value>{b.select(passes, cotangents.front(), zeros)};
}

int64_t ReluOp::getFlops() { return flopsPerElement(getInput(), 1); }

//===----------------------------------------------------------------------===//
// SigmoidOp
//===----------------------------------------------------------------------===//

LogicalResult SigmoidOp::verify() { return success(); }

ShardingRule SigmoidOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

/// σ (1 − σ)
static Value sigmoidSlope(TensorBuilder &b, Value x) {
  Value sigmoid = SigmoidOp::create(b, x.getType(), x);
  return b.mul(sigmoid, b.sub(1.0, sigmoid));
}

FailureOr<SmallVector<Value>> SigmoidOp::buildVjp(OpBuilder &builder,
                                                  ValueRange cotangents) {
  return chain(builder, getLoc(), getInput(), cotangents.front(), sigmoidSlope);
}

int64_t SigmoidOp::getFlops() { return flopsPerElement(getInput(), 3); }

//===----------------------------------------------------------------------===//
// StopGradientOp
//===----------------------------------------------------------------------===//

LogicalResult StopGradientOp::verify() { return success(); }

ShardingRule StopGradientOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

Linearity StopGradientOp::getLinearity(unsigned) { return Linearity::Alone; }

FailureOr<SmallVector<Value>> StopGradientOp::buildVjp(OpBuilder &,
                                                       ValueRange) {
  return SmallVector<Value>{nullptr};
}

int64_t StopGradientOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// DropoutOp
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::verify() {
  float rate = getRate().convertToFloat();
  if (!(0 <= rate && rate < 1)) // C1
    return emitOpError("expects 'rate' in [0, 1), but it is ") << getRateAttr();
  return success();
}

/// `i0 i1, [key] -> i0 i1`
ShardingRule DropoutOp::getShardingRule() {
  std::string dims;
  for (int64_t d = 0, rank = getInput().getType().getRank(); d < rank; ++d)
    dims += " i" + std::to_string(d);
  return ShardingRule::parse(dims + ", [key] ->" + dims, *this);
}

Linearity DropoutOp::getLinearity(unsigned operand) {
  return operand == 0 ? Linearity::Alone : Linearity::No;
}

FailureOr<SmallVector<Value>> DropoutOp::buildVjp(OpBuilder &builder,
                                                  ValueRange cotangents) {
  Value dx = DropoutOp::create(builder, getLoc(), getInput().getType(),
                               cotangents.front(), getKey(), getRateAttr(),
                               getPlaceAttr());
  return SmallVector<Value>{dx, nullptr};
}

int64_t DropoutOp::getFlops() { return flopsPerElement(getInput(), 1); }

//===----------------------------------------------------------------------===//
// FoldInOp
//===----------------------------------------------------------------------===//

LogicalResult FoldInOp::verify() {
  if (!llvm::isUInt<32>(getData())) // C1
    return emitOpError("expects 'data' in [0, 4294967296), but it is ")
           << int64_t(getData());
  return success();
}

ShardingRule FoldInOp::getShardingRule() {
  return ShardingRule::parse("[key] -> [key]", *this);
}

FailureOr<SmallVector<Value>> FoldInOp::buildVjp(OpBuilder &, ValueRange) {
  return SmallVector<Value>{nullptr};
}

int64_t FoldInOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// CheckedOp
//===----------------------------------------------------------------------===//

LogicalResult CheckedOp::verify() {
  if (int64_t(getBound()) <= 0) // C1
    return emitOpError("expects 'bound' to be positive, but it is ")
           << int64_t(getBound());
  return success();
}

ShardingRule CheckedOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

FailureOr<SmallVector<Value>> CheckedOp::buildVjp(OpBuilder &, ValueRange) {
  return SmallVector<Value>{nullptr};
}

int64_t CheckedOp::getFlops() { return 0; }
