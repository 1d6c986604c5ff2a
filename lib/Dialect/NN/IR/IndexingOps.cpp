//===- IndexingOps.cpp - Ops that read or make indices --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

/// `x0 x1 x2` for dimensions `begin` to `end`, with a blank behind each.
static std::string names(char letter, int64_t begin, int64_t end) {
  std::string text;
  for (int64_t dim = begin; dim < end; ++dim)
    text += letter + std::to_string(dim) + " ";
  return text;
}

/// `shape` with dimension `dim` replaced by `dims`.
static SmallVector<int64_t> replaceDim(ArrayRef<int64_t> shape, int64_t dim,
                                       ArrayRef<int64_t> dims) {
  SmallVector<int64_t> result(shape.take_front(dim));
  llvm::append_range(result, dims);
  llvm::append_range(result, shape.drop_front(dim + 1));
  return result;
}

static bool isFloat(RankedTensorType type) {
  return isa<FloatType>(type.getElementType());
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// The shape of the rows that `ids` choose from a table.
static SmallVector<int64_t> shapeOfRows(RankedTensorType table,
                                        RankedTensorType ids) {
  SmallVector<int64_t> shape(ids.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  return shape;
}

static LogicalResult verifyTable(Operation *op, RankedTensorType table) {
  if (table.getRank() > 0)
    return success();
  return op->emitOpError("expects a table with rows, but it is ") << table;
}

LogicalResult EmbeddingOp::verify() {
  auto table = getTable().getType();
  if (failed(verifyTable(*this, table)))
    return failure();
  return verifyType(*this, "its result", getType(),
                    shapeOfRows(table, getIds().getType()),
                    table.getElementType()); // C1
}

ShardingRule EmbeddingOp::getShardingRule() {
  std::string ids = names('i', 0, getIds().getType().getRank());
  std::string row = names('d', 1, getTable().getType().getRank());
  return ShardingRule::parse("v " + row + "," + ids + "->" + ids + row, *this);
}

Linearity EmbeddingOp::getLinearity(unsigned operand) {
  return operand == 0 ? Linearity::Alone : Linearity::No;
}

FailureOr<SmallVector<Value>> EmbeddingOp::buildVjp(OpBuilder &builder,
                                                    ValueRange cotangents) {
  return SmallVector<Value>{
      EmbeddingGradOp::create(builder, getLoc(), getTable().getType(), getIds(),
                              cotangents[0], getPlaceAttr()),
      Value()};
}

int64_t EmbeddingOp::getFlops() { return 0; }

LogicalResult EmbeddingGradOp::verify() {
  if (failed(verifyTable(*this, getType())))
    return failure();
  return verifyType(*this, "'updates'", getUpdates().getType(),
                    shapeOfRows(getType(), getIds().getType()),
                    getType().getElementType()); // C1
}

ShardingRule EmbeddingGradOp::getShardingRule() {
  std::string ids = names('i', 0, getIds().getType().getRank());
  std::string row = names('d', 1, getType().getRank());
  return ShardingRule::parse(ids + "," + ids + row + "-> v " + row, *this);
}

Linearity EmbeddingGradOp::getLinearity(unsigned operand) {
  return operand == 1 ? Linearity::Alone : Linearity::No;
}

FailureOr<SmallVector<Value>> EmbeddingGradOp::buildVjp(OpBuilder &,
                                                        ValueRange) {
  return emitOpError("has no derivative: it is one already");
}

int64_t EmbeddingGradOp::getFlops() {
  return getUpdates().getType().getNumElements();
}

//===----------------------------------------------------------------------===//
// Take
//===----------------------------------------------------------------------===//

LogicalResult TakeOp::verify() {
  auto type = getInput().getType();
  if (failed(verifyDim(*this, getDim(), type))) // C1
    return failure();
  return verifyType(
      *this, "its result", getType(),
      replaceDim(type.getShape(), getDim(), getIds().getType().getShape()),
      type.getElementType()); // C2
}

ShardingRule TakeOp::getShardingRule() {
  int64_t dim = getDim(), rank = getInput().getType().getRank();
  std::string before = names('i', 0, dim), after = names('i', dim + 1, rank);
  std::string ids = names('j', 0, getIds().getType().getRank());
  return ShardingRule::parse(
      before + "[t] " + after + "," + ids + "->" + before + ids + after, *this);
}

Linearity TakeOp::getLinearity(unsigned operand) {
  return operand == 0 ? Linearity::Alone : Linearity::No;
}

FailureOr<SmallVector<Value>> TakeOp::buildVjp(OpBuilder &builder,
                                               ValueRange cotangents) {
  auto type = getInput().getType();
  if (!isFloat(type))
    return SmallVector<Value>{Value(), Value()};
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{ScatterAddOp::create(b, type, b.zeros(type),
                                                 getIds(), cotangents[0],
                                                 getDimAttr()),
                            Value()};
}

int64_t TakeOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  auto type = getInput().getType();
  auto indices = getIndices().getType();
  if (failed(verifyDim(*this, getDim(), type))) // C1
    return failure();
  if (indices.getRank() != type.getRank()) // C1
    return emitOpError("expects indices of rank ")
           << type.getRank() << ", but they are " << indices;
  SmallVector<int64_t> shape =
      replaceDim(type.getShape(), getDim(), indices.getDimSize(getDim()));
  if (failed(verifyType(*this, "'indices'", indices, shape,
                        indices.getElementType()))) // C2
    return failure();
  return verifyType(*this, "its result", getType(), shape,
                    type.getElementType()); // C2
}

ShardingRule GatherOp::getShardingRule() {
  int64_t dim = getDim(), rank = getInput().getType().getRank();
  std::string before = names('i', 0, dim), after = names('i', dim + 1, rank);
  std::string term = before + "j " + after;
  return ShardingRule::parse(before + "[t] " + after + "," + term + "->" + term,
                             *this);
}

Linearity GatherOp::getLinearity(unsigned operand) {
  return operand == 0 ? Linearity::Alone : Linearity::No;
}

FailureOr<SmallVector<Value>> GatherOp::buildVjp(OpBuilder &builder,
                                                 ValueRange cotangents) {
  auto type = getInput().getType();
  if (!isFloat(type))
    return SmallVector<Value>{Value(), Value()};
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{ScatterAddOp::create(b, type, b.zeros(type),
                                                 getIndices(), cotangents[0],
                                                 getDimAttr()),
                            Value()};
}

int64_t GatherOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// True if updates are added element by element, as the adjoint of a gather
/// does. Where a take fits as well, all is of rank 1 and the two are the same.
static bool isElementwise(ScatterAddOp op) {
  auto ids = op.getIds().getType();
  return ids.getRank() == op.getInput().getType().getRank() &&
         ids.getShape() == op.getUpdates().getType().getShape();
}

LogicalResult ScatterAddOp::verify() {
  auto type = getInput().getType();
  auto ids = getIds().getType();
  if (failed(verifyDim(*this, getDim(), type))) // C1
    return failure();
  SmallVector<int64_t> shape =
      isElementwise(*this)
          ? replaceDim(type.getShape(), getDim(), ids.getDimSize(getDim()))
          : replaceDim(type.getShape(), getDim(), ids.getShape());
  if (failed(verifyType(*this, "'updates'", getUpdates().getType(), shape,
                        type.getElementType()))) // C2
    return failure();
  return verifyType(*this, "its result", getType(), type.getShape(),
                    type.getElementType()); // C2
}

ShardingRule ScatterAddOp::getShardingRule() {
  int64_t dim = getDim(), rank = getInput().getType().getRank();
  std::string before = names('i', 0, dim), after = names('i', dim + 1, rank);
  std::string whole = before + "[t] " + after;
  // Ids and updates stay whole along `dim`: were they divided, every device
  // would add `input` once more.
  std::string ids = "[j] ";
  if (!isElementwise(*this)) {
    std::string list = names('j', 0, getIds().getType().getRank());
    ids = list.empty() ? "" : "[" + list + "] ";
  }
  std::string updates = before + ids + after;
  return ShardingRule::parse(whole + "," +
                                 (isElementwise(*this) ? updates : ids) + "," +
                                 updates + "->" + whole,
                             *this);
}

Linearity ScatterAddOp::getLinearity(unsigned operand) {
  return operand == 1 ? Linearity::No : Linearity::Jointly;
}

FailureOr<SmallVector<Value>> ScatterAddOp::buildVjp(OpBuilder &builder,
                                                     ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  Value dy = cotangents[0];
  Type updates = getUpdates().getType();
  Value taken =
      isElementwise(*this)
          ? GatherOp::create(b, updates, dy, getIds(), getDimAttr()).getResult()
          : TakeOp::create(b, updates, dy, getIds(), getDimAttr()).getResult();
  return SmallVector<Value>{dy, Value(), taken};
}

int64_t ScatterAddOp::getFlops() {
  return getUpdates().getType().getNumElements();
}

//===----------------------------------------------------------------------===//
// Argmax
//===----------------------------------------------------------------------===//

LogicalResult ArgmaxOp::verify() {
  auto type = getInput().getType();
  if (failed(verifyDim(*this, getDim(), type))) // C1
    return failure();
  return verifyType(*this, "its result", getType(),
                    replaceDim(type.getShape(), getDim(), {}),
                    getType().getElementType()); // C1
}

ShardingRule ArgmaxOp::getShardingRule() {
  int64_t dim = getDim(), rank = getInput().getType().getRank();
  std::string before = names('i', 0, dim), after = names('i', dim + 1, rank);
  return ShardingRule::parse(before + "[t] " + after + "->" + before + after,
                             *this);
}

FailureOr<SmallVector<Value>> ArgmaxOp::buildVjp(OpBuilder &, ValueRange) {
  return SmallVector<Value>{Value()};
}

int64_t ArgmaxOp::getFlops() { return getInput().getType().getNumElements(); }

//===----------------------------------------------------------------------===//
// Iota
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return verifyDim(*this, getDim(), getType()); // C1
}

ShardingRule IotaOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

FailureOr<SmallVector<Value>> IotaOp::buildVjp(OpBuilder &, ValueRange) {
  return SmallVector<Value>{};
}

int64_t IotaOp::getFlops() { return 0; }
