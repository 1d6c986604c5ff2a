//===- Indexing.cpp - Evaluates ops that read or make indices -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Evaluation.h"
#include <cmath>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Rows in the global table: all ids are below it.
static int64_t getNumRows(PlaceAttr place, int64_t localRows) {
  return place ? place.getShape().front() : localRows;
}

static Results evaluateEmbedding(nn::EmbeddingOp op, const Evaluation &at) {
  const Tensor &table = at[op.getTable()], &ids = at[op.getIds()];
  PlaceAttr place = op.getPlaceAttr();
  int64_t rows = table.getDimSize(0);
  if (failed(at.checkIds(ids, getNumRows(place, rows))))
    return failure();
  auto [begin, end] = at.getBlock(place, 0, rows);
  int64_t width = rows ? table.getNumElements() / rows : 0;
  std::vector<int64_t> from;
  for (int64_t id : ids.ints())
    for (int64_t i = 0; i < width; ++i)
      from.push_back(id < begin || id >= end ? -1 : (id - begin) * width + i);
  return table.pick(op.getType().getShape(), from);
}

/// Adds `updates[i]` to `sums[to[i]]` in this order, where it is not negative.
static void addAt(ElementKind accumulator, MutableArrayRef<double> sums,
                  ArrayRef<int64_t> to, ArrayRef<double> updates) {
  for (auto [target, update] : llvm::zip_equal(to, updates))
    if (target >= 0)
      sums[target] = roundTo(accumulator, sums[target] + update);
}

static Results evaluateEmbeddingGrad(nn::EmbeddingGradOp op,
                                     const Evaluation &at) {
  const Tensor &ids = at[op.getIds()], &updates = at[op.getUpdates()];
  PlaceAttr place = op.getPlaceAttr();
  ArrayRef<int64_t> shape = op.getType().getShape();
  if (failed(at.checkIds(ids, getNumRows(place, shape[0]))))
    return failure();
  auto [begin, end] = at.getBlock(place, 0, shape[0]);
  int64_t width = getNumElements(shape.drop_front());
  std::vector<int64_t> to;
  for (int64_t id : ids.ints())
    for (int64_t i = 0; i < width; ++i)
      to.push_back(id < begin || id >= end ? -1 : (id - begin) * width + i);
  std::vector<double> sums(getNumElements(shape));
  addAt(getAccumulator(at.getKind(op.getType())), sums, to, updates.floats());
  return at.makeResult(std::move(sums));
}

//===----------------------------------------------------------------------===//
// Take, gather, scatter_add
//===----------------------------------------------------------------------===//

/// Where `take` along `dim` reads, for every element of its result.
static std::vector<int64_t> getTakeOffsets(ArrayRef<int64_t> shape, int64_t dim,
                                           const Tensor &ids) {
  int64_t inner = getNumElements(shape.drop_front(dim + 1));
  int64_t outer = getNumElements(shape.take_front(dim));
  std::vector<int64_t> offsets;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t id : ids.ints())
      for (int64_t i = 0; i < inner; ++i)
        offsets.push_back((o * shape[dim] + id) * inner + i);
  return offsets;
}

/// Where `gather` along `dim` reads, for every element of its result.
static std::vector<int64_t> getGatherOffsets(ArrayRef<int64_t> shape,
                                             int64_t dim, const Tensor &ids) {
  Shape strides = getStrides(shape);
  int64_t stride = strides[dim];
  strides[dim] = 0;
  std::vector<int64_t> offsets = getOffsets(ids.getShape(), strides);
  for (auto [offset, id] : llvm::zip_equal(offsets, ids.ints()))
    offset += id * stride;
  return offsets;
}

static Results evaluateTake(nn::TakeOp op, const Evaluation &at) {
  const Tensor &input = at[op.getInput()], &ids = at[op.getIds()];
  if (failed(at.checkIds(ids, input.getDimSize(op.getDim()))))
    return failure();
  return input.pick(op.getType().getShape(),
                    getTakeOffsets(input.getShape(), op.getDim(), ids));
}

static Results evaluateGather(nn::GatherOp op, const Evaluation &at) {
  const Tensor &input = at[op.getInput()], &ids = at[op.getIndices()];
  if (failed(at.checkIds(ids, input.getDimSize(op.getDim()))))
    return failure();
  return input.pick(op.getType().getShape(),
                    getGatherOffsets(input.getShape(), op.getDim(), ids));
}

static Results evaluateScatterAdd(nn::ScatterAddOp op, const Evaluation &at) {
  const Tensor &input = at[op.getInput()], &ids = at[op.getIds()];
  const Tensor &updates = at[op.getUpdates()];
  if (failed(at.checkIds(ids, input.getDimSize(op.getDim()))))
    return failure();
  bool isByElement =
      ids.getRank() == input.getRank() && ids.getShape() == updates.getShape();
  std::vector<int64_t> to =
      isByElement ? getGatherOffsets(input.getShape(), op.getDim(), ids)
                  : getTakeOffsets(input.getShape(), op.getDim(), ids);
  std::vector<double> sums(input.floats());
  addAt(getAccumulator(input.getKind()), sums, to, updates.floats());
  return at.makeResult(std::move(sums));
}

//===----------------------------------------------------------------------===//
// Argmax, iota
//===----------------------------------------------------------------------===//

/// True if element `a` comes before element `b` in an argmax: NaN first.
static bool isLarger(const Tensor &input, int64_t a, int64_t b) {
  if (!input.isFloat())
    return input.ints()[a] > input.ints()[b];
  double x = input.floats()[a], y = input.floats()[b];
  return x > y || (std::isnan(x) && !std::isnan(y));
}

static Results evaluateArgmax(nn::ArgmaxOp op, const Evaluation &at) {
  const Tensor &input = at[op.getInput()];
  int64_t dim = op.getDim(), stride = getStrides(input.getShape())[dim];
  Shape lines(input.getShape());
  lines[dim] = 1;
  std::vector<int64_t> values;
  for (int64_t first : getOffsets(lines, getStrides(input.getShape()))) {
    int64_t best = 0;
    for (int64_t i = 1; i < input.getDimSize(dim); ++i)
      if (isLarger(input, first + i * stride, first + best * stride))
        best = i;
    values.push_back(best);
  }
  return at.makeResult(std::move(values));
}

static Results evaluateIota(nn::IotaOp op, const Evaluation &at) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t dim = op.getDim();
  Shape strides(type.getRank(), 0);
  strides[dim] = 1;
  int64_t begin =
      at.getBlock(op.getPlaceAttr(), dim, type.getDimSize(dim)).first;
  std::vector<int64_t> values = getOffsets(type.getShape(), strides, begin);
  if (isFloat(at.getKind(type)))
    return at.makeResult(std::vector<double>(values.begin(), values.end()));
  return at.makeResult(std::move(values));
}

void dist::interp::populateIndexingEvaluators(EvaluatorRegistry &registry) {
  registry.add<nn::EmbeddingOp>(evaluateEmbedding);
  registry.add<nn::EmbeddingGradOp>(evaluateEmbeddingGrad);
  registry.add<nn::TakeOp>(evaluateTake);
  registry.add<nn::GatherOp>(evaluateGather);
  registry.add<nn::ScatterAddOp>(evaluateScatterAdd);
  registry.add<nn::ArgmaxOp>(evaluateArgmax);
  registry.add<nn::IotaOp>(evaluateIota);
}
