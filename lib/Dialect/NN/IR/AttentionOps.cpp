//===- AttentionOps.cpp - Attention and rotary positions ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// A shape in messages: `8x4x16`.
static std::string describe(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text.empty() ? "no dimensions" : text;
}

static LogicalResult expectShape(Operation *op, StringRef name, Value tensor,
                                 ArrayRef<int64_t> shape) {
  if (shapeOf(tensor) == shape)
    return success();
  return op->emitOpError("expects '")
         << name << "' to have the shape " << describe(shape) << ", but it is "
         << tensor.getType();
}

static LogicalResult expectElementType(Operation *op, StringRef name,
                                       Value tensor, Type element) {
  if (getElementTypeOrSelf(tensor) == element)
    return success();
  return op->emitOpError("expects '")
         << name << "' to have the element type " << element << ", but it is "
         << tensor.getType();
}

//===----------------------------------------------------------------------===//
// What attention and its gradient share
//===----------------------------------------------------------------------===//

namespace {
/// Sizes of an attention. `heads` is `h`, or `g r` once query heads are
/// grouped.
struct AttentionSizes {
  int64_t b, g, s, t, d, e;
  SmallVector<int64_t, 2> heads;

  bool isGrouped() const { return heads.size() == 2; }
  SmallVector<int64_t> rows() const {
    SmallVector<int64_t> shape{b};
    llvm::append_range(shape, heads);
    shape.push_back(s);
    return shape;
  }
  SmallVector<int64_t> rowsOf(int64_t width) const {
    SmallVector<int64_t> shape = rows();
    shape.push_back(width);
    return shape;
  }
};
} // namespace

/// Of verified operands.
template <typename OpTy>
static AttentionSizes sizesOf(OpTy op) {
  ArrayRef<int64_t> q = shapeOf(op.getQ()), k = shapeOf(op.getK());
  AttentionSizes sizes{q.front(), k[1],     q[q.size() - 2],
                       k[2],      q.back(), shapeOf(op.getV()).back(),
                       {}};
  sizes.heads.assign(q.begin() + 1, q.end() - 2);
  return sizes;
}

/// Floating-point operations of the two matrix products.
template <typename OpTy>
static int64_t matmulFlops(OpTy op) {
  AttentionSizes sizes = sizesOf(op);
  int64_t rows = llvm::product_of(sizes.rows());
  int64_t flops = 2 * rows * sizes.t * (sizes.d + sizes.e);
  return op.getCausal() ? flops / 2 : flops;
}

template <typename OpTy>
static LogicalResult verifyHeads(OpTy op) {
  int64_t rank = shapeOf(op.getQ()).size();
  if (rank != 4 && rank != 5) // C1
    return op.emitOpError("expects 'q' to be b h s d or b g r s d, but it is ")
           << op.getQ().getType();
  if (shapeOf(op.getK()).size() != 4) // C1
    return op.emitOpError("expects 'k' to be b g t d, but it is ")
           << op.getK().getType();
  if (shapeOf(op.getV()).size() != 4) // C1
    return op.emitOpError("expects 'v' to be b g t e, but it is ")
           << op.getV().getType();
  AttentionSizes sizes = sizesOf(op);
  if (failed(expectShape(op, "k", op.getK(),
                         {sizes.b, sizes.g, sizes.t, sizes.d})) || // C1
      failed(expectShape(op, "v", op.getV(),
                         {sizes.b, sizes.g, sizes.t, sizes.e}))) // C1
    return failure();
  int64_t h = sizes.heads.front();
  if (sizes.isGrouped() && h != sizes.g) // C1
    return op.emitOpError("expects 'q' with as many groups as 'k', ")
           << sizes.g << ", but it is " << op.getQ().getType();
  if (!sizes.isGrouped() && (sizes.g == 0 ? h != 0 : h % sizes.g != 0)) // C1
    return op.emitOpError("expects the heads of 'k' to divide those of 'q', ")
           << h << ", but there are " << sizes.g;
  return success();
}

/// `bias` ends like the scores; a dimension may be 1.
template <typename OpTy>
static LogicalResult verifyBias(OpTy op) {
  if (!op.getBias())
    return success();
  SmallVector<int64_t> scores = sizesOf(op).rowsOf(sizesOf(op).t);
  ArrayRef<int64_t> bias = shapeOf(op.getBias());
  bool broadcasts = bias.size() <= scores.size();
  if (broadcasts)
    for (auto [have, want] :
         llvm::zip(llvm::reverse(bias), llvm::reverse(scores)))
      broadcasts &= have == 1 || have == want;
  if (!broadcasts) // C1
    return op.emitOpError("expects 'bias' to broadcast to ")
           << describe(scores) << ", but it is " << op.getBias().getType();
  return success();
}

template <typename OpTy>
static LogicalResult verifyOptions(OpTy op) {
  if (IntegerAttr window = op.getWindowAttr()) { // C2
    if (window.getInt() <= 0)
      return op.emitOpError("expects 'window' to be positive, but it is ")
             << window.getInt();
    if (!op.getCausal())
      return op.emitOpError("expects 'causal' with 'window', but it is not "
                            "there");
  }
  if (FloatAttr softcap = op.getSoftcapAttr())
    if (!(softcap.getValueAsDouble() > 0)) // C2
      return op.emitOpError("expects 'softcap' to be positive, but it is ")
             << softcap;
  if (FloatAttr dropout = op.getDropoutAttr()) { // C3
    double rate = dropout.getValueAsDouble();
    if (!(0 <= rate && rate < 1))
      return op.emitOpError("expects 'dropout' in [0, 1), but it is ")
             << dropout;
    if (!op.getKey())
      return op.emitOpError("expects a key with 'dropout', but it is not "
                            "there");
  }
  AttentionSizes sizes = sizesOf(op);
  if (op.getSegmentIds() && sizes.s != sizes.t) // C4
    return op.emitOpError("expects 'segment_ids' where queries and keys have "
                          "the same length, but there are ")
           << sizes.s << " queries and " << sizes.t << " keys";
  return success();
}

template <typename OpTy>
static LogicalResult verifyOperands(OpTy op) {
  if (failed(verifyHeads(op)) || failed(verifyBias(op)) ||
      failed(verifyOptions(op)))
    return failure();
  AttentionSizes sizes = sizesOf(op);
  if (op.getSegmentIds() &&
      failed(expectShape(op, "segment_ids", op.getSegmentIds(),
                         {sizes.b, sizes.s}))) // C1
    return failure();
  Type element = getElementTypeOrSelf(op.getQ());
  if (failed(expectElementType(op, "k", op.getK(), element)) ||
      failed(expectElementType(op, "v", op.getV(), element)))
    return failure();
  return op.getBias() ? expectElementType(op, "bias", op.getBias(), element)
                      : success();
}

/// The log-sum-exp is f32, or f64 for f64.
static Type lseElementType(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

template <typename OpTy>
static LogicalResult verifyRows(OpTy op, StringRef outName, Value out,
                                Value lse) {
  AttentionSizes sizes = sizesOf(op);
  Type element = getElementTypeOrSelf(op.getQ());
  if (failed(expectShape(op, outName, out, sizes.rowsOf(sizes.e))) || // C1
      failed(expectElementType(op, outName, out, element)))
    return failure();
  if (!lse)
    return success();
  if (failed(expectShape(op, "lse", lse, sizes.rows()))) // C1
    return failure();
  return expectElementType(op, "lse", lse, lseElementType(element));
}

namespace {
/// The dimensions of an attention's tensors in a rule. Query heads that share
/// kv heads are the factors g, of both, and r, of q alone.
struct AttentionDims {
  std::string queryHeads = "h", keyHeads = "h";

  explicit AttentionDims(const AttentionSizes &sizes) {
    if (sizes.isGrouped())
      queryHeads = "g r", keyHeads = "g";
    else if (sizes.heads.front() != sizes.g)
      queryHeads = "(g r)", keyHeads = "g";
  }
  std::string query(StringRef rest) const {
    return "b " + queryHeads + " [s]" + rest.str();
  }
  std::string key(StringRef width) const {
    return "b " + keyHeads + " [t] " + width.str();
  }
  /// A dimension of size 1 has no factor of the scores. Where heads split in
  /// two dimensions it does so too: biases are aligned from the end.
  std::string bias(ArrayRef<int64_t> shape) const {
    SmallVector<StringRef> dims{"b"};
    if (queryHeads == "g r")
      dims.append({"g", "r"});
    else
      dims.push_back(queryHeads);
    dims.append({"[s]", "[t]"});
    std::string text;
    for (auto [dim, size] :
         llvm::zip_equal(ArrayRef(dims).take_back(shape.size()), shape))
      text += " " + (size != 1 ? dim.str() : dim == "(g r)" ? "(g1 r1)" : "1");
    return text;
  }
};
} // namespace

/// `, bias, segment_ids, key` of those that are there.
template <typename OpTy>
static std::string optionalTerms(OpTy op, const AttentionDims &dims) {
  std::string text;
  if (op.getBias())
    text += "," + dims.bias(shapeOf(op.getBias()));
  if (op.getSegmentIds())
    text += ", b [s]";
  if (op.getKey())
    text += ", [key]";
  return text;
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  return verifyRows(*this, "result", getResult(), getLse());
}

/// `b g r [s] [d], b g [t] [d], b g [t] [e] -> b g r [s] [e], b g r [s]`
ShardingRule AttentionOp::getShardingRule() {
  AttentionDims dims(sizesOf(*this));
  std::string text = dims.query(" [d]") + ", " + dims.key("[d]") + ", " +
                     dims.key("[e]") + optionalTerms(*this, dims) + " -> " +
                     dims.query(" [e]");
  if (getLse())
    text += ", " + dims.query("");
  return ShardingRule::parse(text, *this);
}

Operation *AttentionOp::exposeResiduals(OpBuilder &builder) {
  if (getLse())
    return *this;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  Type lse = RankedTensorType::get(
      sizesOf(*this).rows(), lseElementType(getElementTypeOrSelf(getQ())));
  auto op = AttentionOp::create(
      builder, getLoc(), TypeRange{getResult().getType(), lse},
      getOperation()->getOperands(), getProperties(),
      llvm::to_vector(getOperation()->getDiscardableAttrs()));
  getResult().replaceAllUsesWith(op.getResult());
  erase();
  return op;
}

FailureOr<SmallVector<Value>> AttentionOp::buildVjp(OpBuilder &builder,
                                                    ValueRange cotangents) {
  if (cotangents.size() > 1 && cotangents[1])
    return emitOpError("is not differentiable in its log-sum-exp");
  assert(getLse() && "exposeResiduals gives it a second result");
  SmallVector<Type> types{getQ().getType(), getK().getType(), getV().getType()};
  if (getBias())
    types.push_back(getBias().getType());
  auto grad = AttentionGradOp::create(
      builder, getLoc(), types, getQ(), getK(), getV(), getResult(), getLse(),
      cotangents.front(), getBias(), getSegmentIds(), getKey(), getCausalAttr(),
      getScaleAttr(), getWindowAttr(), getSoftcapAttr(), getDropoutAttr(),
      getPlaceAttr());
  // q, k, v and bias come first; ids and keys have none.
  SmallVector<Value> results(grad->getResults());
  results.resize(getNumOperands());
  return results;
}

int64_t AttentionOp::getFlops() { return matmulFlops(*this); }

//===----------------------------------------------------------------------===//
// AttentionGradOp
//===----------------------------------------------------------------------===//

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)) ||
      failed(verifyRows(*this, "out", getOut(), getLse())) ||
      failed(verifyRows(*this, "grad", getGrad(), nullptr)))
    return failure();
  auto matches = [&](StringRef name, Value cotangent,
                     Value operand) -> LogicalResult { // C1
    if (failed(expectShape(*this, name, cotangent, shapeOf(operand))))
      return failure();
    return expectElementType(*this, name, cotangent,
                             getElementTypeOrSelf(operand));
  };
  if (failed(matches("dq", getDq(), getQ())) ||
      failed(matches("dk", getDk(), getK())) ||
      failed(matches("dv", getDv(), getV())))
    return failure();
  if (bool(getBias()) != bool(getDbias())) // C1
    return emitOpError("expects ")
           << (getBias() ? 4 : 3) << " results, but it has " << getNumResults();
  return getBias() ? matches("dbias", getDbias(), getBias()) : success();
}

/// The factors are the attention's. `dk` and `dv` lack `r`, and `dbias` what
/// `bias` broadcasts: where those are divided they are partial sums.
ShardingRule AttentionGradOp::getShardingRule() {
  AttentionDims dims(sizesOf(*this));
  std::string inputs =
      dims.query(" [d]") + ", " + dims.key("[d]") + ", " + dims.key("[e]");
  std::string text = inputs + ", " + dims.query(" [e]") + ", " +
                     dims.query("") + ", " + dims.query(" [e]") +
                     optionalTerms(*this, dims) + " -> " + inputs;
  if (getBias())
    text += "," + dims.bias(shapeOf(getBias()));
  return ShardingRule::parse(text, *this);
}

FailureOr<SmallVector<Value>> AttentionGradOp::buildVjp(OpBuilder &,
                                                        ValueRange) {
  return emitOpError("has no derivative");
}

/// Five matrix products to the forward's two.
int64_t AttentionGradOp::getFlops() { return matmulFlops(*this) / 2 * 5; }

//===----------------------------------------------------------------------===//
// RopeOp
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  RankedTensorType input = getInput().getType();
  if (input.getRank() != 4 && input.getRank() != 5)
    return emitOpError("expects b h s d or b g r s d, but it is ") << input;
  int64_t b = input.getDimSize(0), d = input.getShape().back();
  int64_t s = input.getDimSize(input.getRank() - 2);
  ArrayRef<int64_t> positions = shapeOf(getPositions());
  if (positions != ArrayRef<int64_t>{s} &&
      positions != ArrayRef<int64_t>{b, s}) // C1
    return emitOpError("expects 'positions' to have the shape ")
           << describe({s}) << " or " << describe({b, s}) << ", but it is "
           << getPositions().getType();
  int64_t dims = getDims().value_or(d);
  if (dims <= 0 || dims % 2 != 0 || dims > d) // C2
    return emitOpError("expects 'dims' to be even, positive and at most ")
           << d << ", but it is " << dims;
  if (bool(getThetaAttr()) == bool(getFreqs())) // C3
    return emitOpError("expects either 'theta' or 'freqs', but it has ")
           << (getFreqs() ? "both" : "none");
  if (getFreqs())
    return expectShape(*this, "freqs", getFreqs(), {dims / 2}); // C3
  if (!(getThetaAttr().getValueAsDouble() > 0))                 // C3
    return emitOpError("expects 'theta' to be positive, but it is ")
           << getThetaAttr();
  return success();
}

/// `b h s [d], b s -> b h s [d]`: every position turns by its own angle.
ShardingRule RopeOp::getShardingRule() {
  bool isGrouped = getInput().getType().getRank() == 5;
  std::string input = isGrouped ? "b g r s [d]" : "b h s [d]";
  std::string text =
      input + (shapeOf(getPositions()).size() == 1 ? ", s" : ", b s");
  if (getFreqs())
    text += ", [f]";
  return ShardingRule::parse(text + " -> " + input, *this);
}

Linearity RopeOp::getLinearity(unsigned operand) {
  return operand == 0 ? Linearity::Alone : Linearity::No;
}

/// A rotation's adjoint is its inverse. Frequencies are constants of the model
/// and have no cotangent.
/// The two halves, or the even and the odd elements, of the first `dims` of
/// `x`'s last dimension.
static std::pair<Value, Value> buildPairs(TensorBuilder &b, Value x,
                                          int64_t dims, bool isInterleaved) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = dims / 2;
  auto part = [&](int64_t start) -> Value {
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
        strides(type.getRank(), 1);
    starts.back() = isInterleaved ? start : start * (dims / 2);
    limits.back() = isInterleaved ? dims : (start + 1) * (dims / 2);
    strides.back() = isInterleaved ? 2 : 1;
    return nn::SliceOp::create(b, type.clone(shape), x, starts, limits,
                               strides);
  };
  return {part(0), part(1)};
}

/// With y₁ + i·y₂ = (x₁ + i·x₂)·exp(i·pos·f): ∂f = Σ pos·(dy₂·y₁ − dy₁·y₂), of
/// the other sign where the rotation goes back.
static Value buildFrequencyGrad(RopeOp op, OpBuilder &builder, Value dy) {
  TensorBuilder b(builder, op.getLoc());
  auto type = op.getInput().getType();
  int64_t dims = op.getDims().value_or(type.getShape().back());
  auto [y1, y2] = buildPairs(b, op.getResult(), dims, op.getInterleaved());
  auto [dy1, dy2] = buildPairs(b, dy, dims, op.getInterleaved());
  Value swing = b.sub(b.mul(dy2, y1), b.mul(dy1, y2));
  if (op.getInverse())
    swing = b.neg(swing);
  auto positions = op.getPositions().getType();
  auto floats = positions.clone(type.getElementType());
  Value pos = arith::SIToFPOp::create(b, floats, op.getPositions());
  std::string names = type.getRank() == 5 ? "b g r s f" : "b h s f";
  std::string at = positions.getRank() == 2 ? "b s" : "s";
  return b.einsum(names + ", " + at + " -> f", {swing, pos},
                  op.getFreqs().getType());
}

FailureOr<SmallVector<Value>> RopeOp::buildVjp(OpBuilder &builder,
                                               ValueRange cotangents) {
  auto dx = RopeOp::create(builder, getLoc(), getInput().getType(),
                           cotangents.front(), getPositions(), getFreqs(),
                           getThetaAttr(), getDimsAttr(), getInterleavedAttr(),
                           getInverse() ? UnitAttr() : builder.getUnitAttr());
  SmallVector<Value> results(getNumOperands());
  results.front() = dx;
  if (getFreqs())
    results[2] = buildFrequencyGrad(*this, builder, cotangents.front());
  return results;
}

int64_t RopeOp::getFlops() { return 3 * getInput().getType().getNumElements(); }
