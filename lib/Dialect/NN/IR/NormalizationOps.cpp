//===- NormalizationOps.cpp - Softmax, norms, cross-entropy ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t lastDim(Value value) { return tensorType(value).getRank() - 1; }

/// `i0 i1` for a rank of 2; dimension `whole` in `[]`, dimension `skip` absent.
static std::string ruleDims(int64_t rank, int64_t whole, int64_t skip = -1) {
  std::string dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != skip)
      dims += (d == whole ? " [i" : " i") + std::to_string(d) +
              (d == whole ? "]" : "");
  return dims;
}

/// The mean over the last dimension.
static Value meanOverLast(TensorBuilder &b, Value x) {
  int64_t dim = lastDim(x);
  Value sum = b.sum(x, dim);
  double size = tensorType(x).getDimSize(dim);
  return b.div(sum, b.constant(sum.getType(), size));
}

static Value repeatOverLast(TensorBuilder &b, Value rows, Value like) {
  return b.repeat(rows, lastDim(like), like.getType());
}

//===----------------------------------------------------------------------===//
// SoftmaxOp and LogSoftmaxOp
//===----------------------------------------------------------------------===//

template <typename OpTy>
static ShardingRule softmaxRule(OpTy op) {
  std::string dims = ruleDims(op.getInput().getType().getRank(), op.getDim());
  return ShardingRule::parse(dims + " ->" + dims, op);
}

/// What softmax, its logarithm and the cross-entropy share. All three write
/// the same ops, so that equal ones merge.
namespace {
struct Exponentials {
  Value max;     ///< without the dimension
  Value shifted; ///< x − max
  Value exp;     ///< exp(x − max)
  Value sum;     ///< Σ exp(x − max), without the dimension
};
} // namespace

static Exponentials buildExponentials(TensorBuilder &b, Value x, int64_t dim) {
  Value max = b.reduce(ReduceKind::Max, x, dim);
  Value shifted = b.sub(x, b.repeat(max, dim, x.getType()));
  Value exp = b.exp(shifted);
  return {max, shifted, exp, b.sum(exp, dim)};
}

LogicalResult SoftmaxOp::verify() {
  return verifyDim(*this, getDim(), getInput().getType()); // C1
}

ShardingRule SoftmaxOp::getShardingRule() { return softmaxRule(*this); }

/// dx = y (dy − Σ y dy)
FailureOr<SmallVector<Value>> SoftmaxOp::buildVjp(OpBuilder &builder,
                                                  ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  Value y = b.widen(getResult()), dy = b.widen(cotangents.front());
  Value sum = b.sum(b.mul(y, dy), getDim());
  Value dx = b.mul(y, b.sub(dy, b.repeat(sum, getDim(), y.getType())));
  return SmallVector<Value>{b.narrow(dx, getInput().getType())};
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Value x = b.widen(getInput());
  Exponentials e = buildExponentials(b, x, getDim());
  Value y = b.div(e.exp, b.repeat(e.sum, getDim(), x.getType()));
  return {b.narrow(y, getInput().getType())};
}

int64_t SoftmaxOp::getFlops() {
  return 5 * getInput().getType().getNumElements();
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyDim(*this, getDim(), getInput().getType()); // C1
}

ShardingRule LogSoftmaxOp::getShardingRule() { return softmaxRule(*this); }

/// dx = dy − exp(y) Σ dy
FailureOr<SmallVector<Value>> LogSoftmaxOp::buildVjp(OpBuilder &builder,
                                                     ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  Value y = b.widen(getResult()), dy = b.widen(cotangents.front());
  Value sum = b.repeat(b.sum(dy, getDim()), getDim(), y.getType());
  Value dx = b.sub(dy, b.mul(b.exp(y), sum));
  return SmallVector<Value>{b.narrow(dx, getInput().getType())};
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Value x = b.widen(getInput());
  Exponentials e = buildExponentials(b, x, getDim());
  Value y = b.sub(e.shifted, b.repeat(b.log(e.sum), getDim(), x.getType()));
  return {b.narrow(y, getInput().getType())};
}

int64_t LogSoftmaxOp::getFlops() {
  return 5 * getInput().getType().getNumElements();
}

//===----------------------------------------------------------------------===//
// LayerNormOp and RmsNormOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyScale(Operation *op, StringRef name,
                                 RankedTensorType input,
                                 RankedTensorType scale) {
  if (input.getRank() == 0) // C1
    return op->emitOpError("expects an operand with dimensions, but it is ")
           << input;
  if (scale.getShape() != input.getShape().take_back()) // C1
    return op->emitOpError("expects '")
           << name << "' to have the size of the last dimension, "
           << input.getShape().back() << ", but it is " << scale;
  if (scale.getElementType() != input.getElementType()) // C1
    return op->emitOpError("expects '")
           << name << "' to have the element type " << input.getElementType()
           << ", but it is " << scale;
  return success();
}

static LogicalResult verifyEps(Operation *op, FloatAttr eps) {
  if (!(eps.getValueAsDouble() >= 0)) // C2
    return op->emitOpError("expects 'eps' not to be negative, but it is ")
           << eps;
  return success();
}

namespace {
/// A norm's input at mean 0 (layer norm) and mean square 1.
struct Normalized {
  Value value;
  Value inverse; ///< 1 / √(mean square + eps), repeated over the last dimension
};
} // namespace

/// `x / √(mean(x²) + eps)`
static Normalized normalize(TensorBuilder &b, Value x, FloatAttr eps) {
  Value square = meanOverLast(b, b.mul(x, x));
  Value inverse = b.rsqrt(b.add(square, eps.getValueAsDouble()));
  inverse = repeatOverLast(b, inverse, x);
  return {b.mul(x, inverse), inverse};
}

static Value center(TensorBuilder &b, Value x) {
  return b.sub(x, repeatOverLast(b, meanOverLast(b, x), x));
}

/// The cotangent of what `normalize` got from that of its value:
/// (g − x̂ mean(g x̂)) / √(mean square + eps)
static Value normalizeVjp(TensorBuilder &b, Normalized x, Value g) {
  Value mean = meanOverLast(b, b.mul(g, x.value));
  Value along = b.mul(x.value, repeatOverLast(b, mean, g));
  return b.mul(b.sub(g, along), x.inverse);
}

static ShardingRule normRule(Operation *op) {
  int64_t rank = tensorType(op->getOperand(0)).getRank();
  std::string dims = ruleDims(rank, rank - 1);
  std::string rule = dims;
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    rule += ", [i" + std::to_string(rank - 1) + "]";
  return ShardingRule::parse(rule + " ->" + dims, op);
}

LogicalResult LayerNormOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyScale(*this, "weight", input, getWeight().getType())) ||
      failed(verifyScale(*this, "bias", input, getBias().getType())))
    return failure();
  return verifyEps(*this, getEpsAttr());
}

ShardingRule LayerNormOp::getShardingRule() { return normRule(*this); }

FailureOr<SmallVector<Value>> LayerNormOp::buildVjp(OpBuilder &builder,
                                                    ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  Value x = center(b, b.widen(getInput())), dy = b.widen(cotangents.front());
  Normalized normal = normalize(b, x, getEpsAttr());
  Value g = b.mul(dy, b.repeatLeading(b.widen(getWeight()), dy.getType()));
  // Centring is its own adjoint; x̂ has mean 0, so g may be centred first.
  Value dx = normalizeVjp(b, normal, center(b, g));
  Value dweight = b.sumLeading(b.mul(dy, normal.value));
  return SmallVector<Value>{b.narrow(dx, getInput().getType()),
                            b.narrow(dweight, getWeight().getType()),
                            b.narrow(b.sumLeading(dy), getBias().getType())};
}

SmallVector<Value> LayerNormOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Value x = center(b, b.widen(getInput()));
  Value normal = normalize(b, x, getEpsAttr()).value;
  Value weight = b.repeatLeading(b.widen(getWeight()), x.getType());
  Value bias = b.repeatLeading(b.widen(getBias()), x.getType());
  return {b.narrow(b.add(b.mul(normal, weight), bias), getInput().getType())};
}

int64_t LayerNormOp::getFlops() {
  return 7 * getInput().getType().getNumElements();
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyScale(*this, "weight", getInput().getType(),
                         getWeight().getType())))
    return failure();
  return verifyEps(*this, getEpsAttr());
}

ShardingRule RmsNormOp::getShardingRule() { return normRule(*this); }

FailureOr<SmallVector<Value>> RmsNormOp::buildVjp(OpBuilder &builder,
                                                  ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  Value dy = b.widen(cotangents.front());
  Normalized normal = normalize(b, b.widen(getInput()), getEpsAttr());
  Value g = b.mul(dy, b.repeatLeading(b.widen(getWeight()), dy.getType()));
  Value dx = normalizeVjp(b, normal, g);
  Value dweight = b.sumLeading(b.mul(dy, normal.value));
  return SmallVector<Value>{b.narrow(dx, getInput().getType()),
                            b.narrow(dweight, getWeight().getType())};
}

SmallVector<Value> RmsNormOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Normalized normal = normalize(b, b.widen(getInput()), getEpsAttr());
  Value weight = b.repeatLeading(b.widen(getWeight()), normal.value.getType());
  return {b.narrow(b.mul(normal.value, weight), getInput().getType())};
}

int64_t RmsNormOp::getFlops() {
  return 4 * getInput().getType().getNumElements();
}

//===----------------------------------------------------------------------===//
// CrossEntropyOp
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::verify() {
  RankedTensorType logits = getLogits().getType();
  if (logits.getRank() == 0) // C1
    return emitOpError("expects 'logits' with dimensions, but it is ")
           << logits;
  auto check = [&](StringRef name, RankedTensorType type) -> LogicalResult {
    if (type.getShape() == logits.getShape().drop_back())
      return success();
    return emitOpError("expects ")
           << name << " with the shape of 'logits' without its last dimension, "
           << logits << ", but it is " << type;
  };
  if (failed(check("'labels'", getLabels().getType())) || // C1
      failed(check("a result", getResult().getType())))
    return failure();
  if (getResult().getType().getElementType() != logits.getElementType()) // C1
    return emitOpError("expects a result with the element type of 'logits', ")
           << logits.getElementType() << ", but it is "
           << getResult().getType();
  if (FloatAttr smoothing = getLabelSmoothingAttr())
    if (!(0 <= smoothing.getValueAsDouble() &&
          smoothing.getValueAsDouble() < 1)) // C2
      return emitOpError("expects 'label_smoothing' in [0, 1), but it is ")
             << smoothing;
  if (FloatAttr zLoss = getZLossAttr())
    if (!(zLoss.getValueAsDouble() >= 0)) // C2
      return emitOpError("expects 'z_loss' not to be negative, but it is ")
             << zLoss;
  return success();
}

ShardingRule CrossEntropyOp::getShardingRule() {
  int64_t rank = getLogits().getType().getRank();
  std::string rows = ruleDims(rank, -1, rank - 1);
  return ShardingRule::parse(
      ruleDims(rank, rank - 1) + "," + rows + " ->" + rows, *this);
}

namespace {
/// What the loss and its derivative share. Both write the same ops, so that
/// after merging a step reduces over the classes as often as the loss alone.
struct ClassScores {
  Exponentials exponentials;
  Value logSum;    ///< log Σ exp(x − max)
  Value logSumExp; ///< logsumexp(x); null without z-loss
  Value labels;    ///< checked
  Value repeated;  ///< labels along the classes
  Value isLabel;   ///< one-hot, a condition
  double smoothing, zLoss;
};
} // namespace

static ClassScores buildClassScores(TensorBuilder &b, CrossEntropyOp op) {
  Value x = b.widen(op.getLogits());
  int64_t dim = lastDim(x), classes = tensorType(x).getDimSize(dim);
  ClassScores scores;
  auto number = [](FloatAttr attr) {
    return attr ? attr.getValueAsDouble() : 0.0;
  };
  scores.smoothing = number(op.getLabelSmoothingAttr());
  scores.zLoss = number(op.getZLossAttr());
  scores.exponentials = buildExponentials(b, x, dim);
  scores.logSum = b.log(scores.exponentials.sum);
  if (scores.zLoss != 0)
    scores.logSumExp = b.add(scores.logSum, scores.exponentials.max);
  Value labels = op.getLabels();
  scores.labels = CheckedOp::create(
      b, labels.getType(), labels, b.getI64IntegerAttr(classes),
      b.getStringAttr("cross_entropy"), op.getIgnoreIndexAttr());
  Type ids = RankedTensorType::get(tensorType(x).getShape(),
                                   tensorType(labels).getElementType());
  Value iota = IotaOp::create(b, ids, b.getI64IntegerAttr(dim), nullptr);
  scores.repeated = b.repeat(scores.labels, dim, ids);
  scores.isLabel = b.equal(iota, scores.repeated);
  return scores;
}

/// `value`, or 0 where the label (`labels` in the shape of `value`) is ignored.
static Value zeroIfIgnored(TensorBuilder &b, CrossEntropyOp op, Value labels,
                           Value value) {
  std::optional<int64_t> ignored = op.getIgnoreIndex();
  Type element = tensorType(labels).getElementType();
  if (!ignored || !llvm::isIntN(element.getIntOrFloatBitWidth(), *ignored))
    return value; // no label can be equal
  Attribute splat = b.getIntegerAttr(element, *ignored);
  Value index = arith::ConstantOp::create(
      b, DenseElementsAttr::get(tensorType(labels), splat));
  return b.select(b.equal(labels, index), b.zeros(value.getType()), value);
}

/// dx = dy [softmax (1 + 2 c logsumexp) − (1 − ε) onehot − ε/V]
FailureOr<SmallVector<Value>> CrossEntropyOp::buildVjp(OpBuilder &builder,
                                                       ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  ClassScores scores = buildClassScores(b, *this);
  Value dy = b.widen(cotangents.front()), weight = dy;
  if (scores.logSumExp)
    weight = b.mul(dy, b.add(b.mul(scores.logSumExp, 2 * scores.zLoss), 1.0));
  Value exp = scores.exponentials.exp;
  Value softmax = b.div(exp, repeatOverLast(b, scores.exponentials.sum, exp));
  Value dx = b.mul(softmax, repeatOverLast(b, weight, exp));
  Value label = repeatOverLast(b, b.mul(dy, 1 - scores.smoothing), exp);
  dx = b.sub(dx, b.select(scores.isLabel, label, b.zeros(exp.getType())));
  if (scores.smoothing != 0) {
    double classes = tensorType(exp).getShape().back();
    Value uniform = b.mul(dy, scores.smoothing / classes);
    dx = b.sub(dx, repeatOverLast(b, uniform, exp));
  }
  dx = zeroIfIgnored(b, *this, scores.repeated, dx);
  return SmallVector<Value>{b.narrow(dx, getLogits().getType()), nullptr};
}

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  ClassScores scores = buildClassScores(b, *this);
  // Relative to the maximum: log-sum-exp and logit would cancel if large.
  Value shifted = scores.exponentials.shifted;
  Value picked =
      b.sum(b.select(scores.isLabel, shifted, b.zeros(shifted.getType())),
            lastDim(shifted));
  Value loss = b.sub(scores.logSum, picked);
  if (scores.smoothing != 0) {
    Value uniform = b.sub(scores.logSum, meanOverLast(b, shifted));
    loss = b.add(b.mul(loss, 1 - scores.smoothing),
                 b.mul(uniform, scores.smoothing));
  }
  if (scores.logSumExp)
    loss = b.add(
        loss, b.mul(b.mul(scores.logSumExp, scores.logSumExp), scores.zLoss));
  loss = zeroIfIgnored(b, *this, scores.labels, loss);
  return {b.narrow(loss, getResult().getType())};
}

int64_t CrossEntropyOp::getFlops() {
  return 5 * getLogits().getType().getNumElements();
}
