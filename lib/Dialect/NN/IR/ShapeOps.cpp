//===- ShapeOps.cpp - Slices, pads, joins ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "llvm/ADT/SmallBitVector.h"
#include <numeric>

using namespace mlir;
using namespace dist;
using namespace dist::nn;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// The rule of an op that treats dimensions one by one. `getGrain` says how
/// many neighbours along a dimension always stay together: all of them where it
/// is not cut. A cut dimension is needed whole, in each tensor by itself, but
/// only down to its grains: `([o] g) d -> ([p] g) d`.
static ShardingRule
ruleOfDims(Operation *op, llvm::function_ref<int64_t(unsigned dim)> getGrain) {
  ShardingRule rule;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  rule.operands.resize(op->getNumOperands());
  rule.results.resize(1);
  auto addFactor = [&](const Twine &name, int64_t size, bool isWhole) {
    rule.factors.push_back({name.str(), size, isWhole});
    return unsigned(rule.factors.size() - 1);
  };
  for (auto [dim, size] : llvm::enumerate(result.getShape())) {
    int64_t grain = getGrain(dim);
    bool isCut =
        grain != size || llvm::any_of(op->getOperandTypes(), [&](Type t) {
          return cast<RankedTensorType>(t).getDimSize(dim) != grain;
        });
    std::optional<unsigned> inner;
    if (!isCut || grain > 1)
      inner = addFactor("i" + Twine(dim), grain, /*isWhole=*/false);
    auto addDim = [&](ShardingRule::Dims &dims, int64_t own, unsigned index) {
      auto &factors = dims.emplace_back();
      if (isCut)
        factors.push_back(addFactor("o" + Twine(dim) + "_" + Twine(index),
                                    inner ? own / grain : own,
                                    /*isWhole=*/true));
      if (inner)
        factors.push_back(*inner);
    };
    for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
      addDim(rule.operands[index], cast<RankedTensorType>(type).getDimSize(dim),
             index);
    addDim(rule.results[0], size, op->getNumOperands());
  }
  return rule;
}

static LogicalResult verifyLength(Operation *op, StringRef name,
                                  ArrayRef<int64_t> array, int64_t rank) {
  if (int64_t(array.size()) == rank)
    return success();
  return op->emitOpError("expects '")
         << name << "' to have " << rank << " entries, but it has "
         << array.size();
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

LogicalResult nn::SliceOp::verify() {
  auto type = getInput().getType();
  if (failed(verifyLength(*this, "starts", getStarts(), type.getRank())) ||
      failed(verifyLength(*this, "limits", getLimits(), type.getRank())) ||
      failed(verifyLength(*this, "strides", getStrides(), type.getRank())))
    return failure(); // C1
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    int64_t start = getStarts()[dim], limit = getLimits()[dim],
            stride = getStrides()[dim];
    if (start < 0 || start > limit || limit > size) // C2
      return emitOpError("expects 0 <= start <= limit <= ")
             << size << " in dimension " << dim << ", but they are " << start
             << " and " << limit;
    if (stride < 1) // C2
      return emitOpError("expects a stride of at least 1 in dimension ")
             << dim << ", but it is " << stride;
    shape.push_back(llvm::divideCeil(limit - start, stride));
  }
  return verifyType(*this, "its result", getType(), shape,
                    type.getElementType()); // C3
}

ShardingRule nn::SliceOp::getShardingRule() {
  return ruleOfDims(*this, [&](unsigned dim) -> int64_t {
    int64_t size = getInput().getType().getDimSize(dim);
    if (getStrides()[dim] != 1)
      return 1;
    return std::gcd(std::gcd(getStarts()[dim], getLimits()[dim]), size);
  });
}

Linearity nn::SliceOp::getLinearity(unsigned) { return Linearity::Alone; }

FailureOr<SmallVector<Value>> nn::SliceOp::buildVjp(OpBuilder &builder,
                                                    ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  auto type = getInput().getType();
  SmallVector<int64_t> high, interior;
  for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
    int64_t stride = size ? getStrides()[dim] : 1;
    int64_t span = size ? (size - 1) * stride + 1 : 0;
    high.push_back(type.getDimSize(dim) - getStarts()[dim] - span);
    interior.push_back(stride - 1);
  }
  bool isDense = llvm::all_of(interior, [](int64_t i) { return i == 0; });
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  return SmallVector<Value>{PadOp::create(
      b, type, cotangents[0], getStartsAttr(), b.getDenseI64ArrayAttr(high),
      isDense ? nullptr : b.getDenseI64ArrayAttr(interior), zero)};
}

int64_t nn::SliceOp::getFlops() { return 0; }

OpFoldResult nn::SliceOp::fold(FoldAdaptor) {
  // Within the bounds only the slice of everything has the operand's size.
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  auto type = getInput().getType();
  SmallVector<int64_t> interior(type.getRank(), 0);
  if (getInterior())
    interior.assign(getInterior()->begin(), getInterior()->end());
  if (failed(verifyLength(*this, "low", getLow(), type.getRank())) ||
      failed(verifyLength(*this, "high", getHigh(), type.getRank())) ||
      failed(verifyLength(*this, "interior", interior, type.getRank())))
    return failure();                                // C1
  if (getValue().getType() != type.getElementType()) // C2
    return emitOpError("expects 'value' to be a ")
           << type.getElementType() << ", but it is " << getValue();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (getLow()[dim] < 0 || getHigh()[dim] < 0 || interior[dim] < 0) // C1
      return emitOpError("expects no negative padding, but dimension ")
             << dim << " has low " << getLow()[dim] << ", high "
             << getHigh()[dim] << ", interior " << interior[dim];
    shape.push_back(getLow()[dim] + size + getHigh()[dim] +
                    std::max<int64_t>(size - 1, 0) * interior[dim]);
  }
  return verifyType(*this, "its result", getType(), shape,
                    type.getElementType()); // C3
}

ShardingRule PadOp::getShardingRule() {
  return ruleOfDims(*this, [&](unsigned dim) -> int64_t {
    int64_t size = getInput().getType().getDimSize(dim);
    if (getInterior() && (*getInterior())[dim] != 0)
      return 1;
    return std::gcd(std::gcd(getLow()[dim], getHigh()[dim]), size);
  });
}

Linearity PadOp::getLinearity(unsigned) {
  auto value = dyn_cast<FloatAttr>(getValue());
  bool isZero = value ? value.getValue().isZero()
                      : cast<IntegerAttr>(getValue()).getValue().isZero();
  return isZero ? Linearity::Alone : Linearity::No;
}

FailureOr<SmallVector<Value>> PadOp::buildVjp(OpBuilder &builder,
                                              ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  auto type = getInput().getType();
  SmallVector<int64_t> limits, strides;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    strides.push_back(1 + (getInterior() ? (*getInterior())[dim] : 0));
    limits.push_back(getLow()[dim] +
                     (size ? (size - 1) * strides.back() + 1 : 0));
  }
  return SmallVector<Value>{
      nn::SliceOp::create(b, type, cotangents[0], getLow(), limits, strides)};
}

int64_t PadOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getInputs().empty()) // C1
    return emitOpError("expects an operand, but has none");
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  if (failed(verifyDim(*this, getDim(), first))) // C1
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  shape[getDim()] = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[getDim()] = type.getDimSize(getDim());
    if (failed(verifyType(*this, "operand #" + std::to_string(index), type,
                          expected, first.getElementType()))) // C2
      return failure();
    shape[getDim()] += type.getDimSize(getDim());
  }
  return verifyType(*this, "its result", getType(), shape,
                    first.getElementType()); // C2
}

ShardingRule ConcatOp::getShardingRule() {
  return ruleOfDims(*this, [&](unsigned dim) {
    int64_t grain = getType().getDimSize(dim);
    if (int64_t(dim) == int64_t(getDim()))
      for (Value input : getInputs())
        grain = std::gcd(
            grain, cast<RankedTensorType>(input.getType()).getDimSize(dim));
    return grain;
  });
}

Linearity ConcatOp::getLinearity(unsigned) { return Linearity::Jointly; }

FailureOr<SmallVector<Value>> ConcatOp::buildVjp(OpBuilder &builder,
                                                 ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  int64_t rank = getType().getRank();
  SmallVector<int64_t> starts(rank, 0), limits(getType().getShape()),
      strides(rank, 1);
  SmallVector<Value> grads;
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    limits[getDim()] = starts[getDim()] + type.getDimSize(getDim());
    grads.push_back(
        nn::SliceOp::create(b, type, cotangents[0], starts, limits, strides));
    starts[getDim()] = limits[getDim()];
  }
  return grads;
}

int64_t ConcatOp::getFlops() { return 0; }

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 && getInputs()[0].getType() == getType())
    return getInputs()[0];
  return {};
}

//===----------------------------------------------------------------------===//
// Reverse
//===----------------------------------------------------------------------===//

LogicalResult ReverseOp::verify() {
  auto type = getInput().getType();
  llvm::SmallBitVector seen(type.getRank());
  for (int64_t dim : getDims()) { // C1
    if (dim < 0 || dim >= type.getRank() || seen.test(dim))
      return emitOpError("expects 'dims' to be distinct dimensions of ")
             << type << ", but one is " << dim;
    seen.set(dim);
  }
  return verifyType(*this, "its result", getType(), type.getShape(),
                    type.getElementType()); // C2
}

ShardingRule ReverseOp::getShardingRule() {
  return ruleOfDims(*this, [&](unsigned dim) -> int64_t {
    bool isCut = llvm::is_contained(getDims(), int64_t(dim));
    return isCut ? 1 : getType().getDimSize(dim);
  });
}

Linearity ReverseOp::getLinearity(unsigned) { return Linearity::Alone; }

FailureOr<SmallVector<Value>> ReverseOp::buildVjp(OpBuilder &builder,
                                                  ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{
      ReverseOp::create(b, getInput().getType(), cotangents[0], getDimsAttr())};
}

int64_t ReverseOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  auto from = getInput().getType();
  if (from.getNumElements() != getType().getNumElements() ||
      from.getElementType() != getType().getElementType()) // C1
    return emitOpError("expects as many elements of the same type in its "
                       "result as in ")
           << from << ", but it is " << getType();
  return success();
}

namespace {
/// Pairs the dimensions of two shapes that a row-major reshape maps onto each
/// other, smallest runs of equal product first.
class ReshapeRule {
public:
  ReshapeRule(ArrayRef<int64_t> from, ArrayRef<int64_t> to)
      : from(from), to(to) {
    rule.operands.resize(1);
    rule.results.resize(1);
    rule.operands[0].resize(from.size());
    rule.results[0].resize(to.size());
  }

  ShardingRule build();

private:
  /// Adds the factors of `from[i, iEnd)` and `to[j, jEnd)`: shared where one of
  /// them is a single dimension, which then holds all of the other's; else
  /// whole, each by itself.
  void addRun(unsigned i, unsigned iEnd, unsigned j, unsigned jEnd);
  unsigned addFactor(int64_t size, bool isWhole) {
    unsigned index = rule.factors.size();
    rule.factors.push_back({"i" + std::to_string(index), size, isWhole});
    return index;
  }

  ArrayRef<int64_t> from, to;
  ShardingRule rule;
};
} // namespace

void ReshapeRule::addRun(unsigned i, unsigned iEnd, unsigned j, unsigned jEnd) {
  ShardingRule::Dims &operand = rule.operands[0], &result = rule.results[0];
  bool isMerge = jEnd - j == 1, isSplit = iEnd - i == 1;
  if (!isMerge && !isSplit) {
    for (; i < iEnd; ++i)
      operand[i].push_back(addFactor(from[i], true));
    for (; j < jEnd; ++j)
      result[j].push_back(addFactor(to[j], true));
    return;
  }
  unsigned count = isMerge ? iEnd - i : jEnd - j;
  for (unsigned n = 0; n < count; ++n) {
    unsigned factor = addFactor(isMerge ? from[i + n] : to[j + n], false);
    operand[isMerge ? i + n : i].push_back(factor);
    result[isMerge ? j : j + n].push_back(factor);
  }
}

ShardingRule ReshapeRule::build() {
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    // Unit dimensions have no factor.
    if (i < from.size() && from[i] == 1) {
      ++i;
      continue;
    }
    if (j < to.size() && to[j] == 1) {
      ++j;
      continue;
    }
    unsigned iEnd = i + 1, jEnd = j + 1;
    for (int64_t a = from[i], b = to[j]; a != b;) {
      if (a < b)
        a *= from[iEnd++];
      else
        b *= to[jEnd++];
    }
    addRun(i, iEnd, j, jEnd);
    i = iEnd;
    j = jEnd;
  }
  return std::move(rule);
}

ShardingRule ReshapeOp::getShardingRule() {
  // Runs of an empty tensor have no sizes to match; its rule shares nothing.
  if (getType().getNumElements() == 0) {
    ShardingRule rule;
    rule.operands.emplace_back().resize(getInput().getType().getRank());
    rule.results.emplace_back().resize(getType().getRank());
    return rule;
  }
  return ReshapeRule(getInput().getType().getShape(), getType().getShape())
      .build();
}

Linearity ReshapeOp::getLinearity(unsigned) { return Linearity::Alone; }

FailureOr<SmallVector<Value>> ReshapeOp::buildVjp(OpBuilder &builder,
                                                  ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{
      ReshapeOp::create(b, getInput().getType(), cotangents[0])};
}

int64_t ReshapeOp::getFlops() { return 0; }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // Of a chain only the ends matter, as long as no dimension between them says
  // how the tensor is divided.
  auto first = getInput().getDefiningOp<ReshapeOp>();
  if (!first || getInput().getType().getEncoding())
    return {};
  getInputMutable().assign(first.getInput());
  return getResult();
}
