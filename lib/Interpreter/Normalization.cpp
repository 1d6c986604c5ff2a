//===- Normalization.cpp - Evaluates softmax, norms, cross-entropy --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Evaluation.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

/// Calls `compute` on every line along `dim`: its first element and the stride
/// from one element to the next.
static void forEachLine(ArrayRef<int64_t> shape, int64_t dim,
                        llvm::function_ref<void(int64_t, int64_t)> compute) {
  int64_t stride = getStrides(shape)[dim];
  Shape others(shape);
  others[dim] = 1;
  for (int64_t first : getOffsets(others, getStrides(shape)))
    compute(first, stride);
}

/// The largest of `size` values; their exponentials are taken relative to it.
static double getHighest(const double *values, int64_t size, int64_t stride) {
  double highest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < size; ++i)
    highest = std::max(highest, values[i * stride]);
  return highest;
}

/// log Σ exp of `size` values; -inf if all are.
static double logSumExp(const double *values, int64_t size, int64_t stride) {
  double highest = getHighest(values, size, stride), sum = 0;
  if (std::isinf(highest))
    return highest;
  for (int64_t i = 0; i < size; ++i)
    sum += std::exp(values[i * stride] - highest);
  return highest + std::log(sum);
}

static Results evaluateLogSoftmax(nn::LogSoftmaxOp op, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  std::vector<double> values(input.floats());
  int64_t size = input.getDimSize(op.getDim());
  forEachLine(input.getShape(), op.getDim(),
              [&](int64_t first, int64_t stride) {
                double *line = values.data() + first;
                double highest = getHighest(line, size, stride), sum = 0;
                for (int64_t i = 0; i < size; ++i)
                  sum += std::exp(line[i * stride] - highest);
                for (int64_t i = 0; i < size; ++i)
                  line[i * stride] = line[i * stride] - highest - std::log(sum);
              });
  return at.makeResult(std::move(values));
}

static Results evaluateSoftmax(nn::SoftmaxOp op, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  std::vector<double> values(input.floats());
  int64_t size = input.getDimSize(op.getDim());
  forEachLine(
      input.getShape(), op.getDim(), [&](int64_t first, int64_t stride) {
        double *line = values.data() + first;
        double highest = getHighest(line, size, stride), sum = 0;
        for (int64_t i = 0; i < size; ++i)
          sum += line[i * stride] = std::exp(line[i * stride] - highest);
        for (int64_t i = 0; i < size; ++i)
          line[i * stride] /= sum;
      });
  return at.makeResult(std::move(values));
}

/// Calls `compute` on every row: its elements, to be overwritten.
static std::vector<double>
mapRows(const Tensor &input,
        llvm::function_ref<void(MutableArrayRef<double>)> compute) {
  std::vector<double> values(input.floats());
  int64_t size = input.getShape().back();
  for (size_t first = 0; first < values.size(); first += size)
    compute(MutableArrayRef<double>(values.data() + first, size));
  return values;
}

static Results evaluateLayerNorm(nn::LayerNormOp op, const Evaluation &at) {
  double eps = op.getEps().convertToFloat();
  ArrayRef<double> weight = at[op.getWeight()].floats();
  ArrayRef<double> bias = at[op.getBias()].floats();
  return at.makeResult(mapRows(at[op.getInput()], [&](auto row) {
    double mean = 0, variance = 0, n = row.size();
    for (double x : row)
      mean += x / n;
    for (double x : row)
      variance += (x - mean) * (x - mean) / n;
    double scale = 1 / std::sqrt(variance + eps);
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = (row[i] - mean) * scale * weight[i] + bias[i];
  }));
}

static Results evaluateRmsNorm(nn::RmsNormOp op, const Evaluation &at) {
  double eps = op.getEps().convertToFloat();
  ArrayRef<double> weight = at[op.getWeight()].floats();
  return at.makeResult(mapRows(at[op.getInput()], [&](auto row) {
    double square = 0, n = row.size();
    for (double x : row)
      square += x * x / n;
    double scale = 1 / std::sqrt(square + eps);
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = row[i] * scale * weight[i];
  }));
}

static double lossOfRow(nn::CrossEntropyOp op, ArrayRef<double> row,
                        int64_t label) {
  double lse = logSumExp(row.data(), row.size(), 1);
  double loss = lse - row[label];
  if (auto smoothing = op.getLabelSmoothing()) {
    double eps = smoothing->convertToFloat(), mean = 0;
    for (double x : row)
      mean += x / double(row.size());
    loss = (1 - eps) * loss + eps * (lse - mean);
  }
  if (auto z = op.getZLoss())
    loss += z->convertToFloat() * lse * lse;
  return loss;
}

static Results evaluateCrossEntropy(nn::CrossEntropyOp op,
                                    const Evaluation &at) {
  const Tensor &logits = at[op.getLogits()], &labels = at[op.getLabels()];
  std::optional<int64_t> ignored = op.getIgnoreIndex();
  int64_t classes = logits.getShape().back();
  if (failed(at.checkIds(labels, classes, ignored)))
    return failure();
  std::vector<double> values(labels.getNumElements());
  for (auto [i, label] : llvm::enumerate(labels.ints()))
    if (label != ignored)
      values[i] =
          lossOfRow(op, logits.floats().slice(i * classes, classes), label);
  return at.makeResult(std::move(values));
}

void dist::interp::populateNormalizationEvaluators(
    EvaluatorRegistry &registry) {
  registry.add<nn::SoftmaxOp>(evaluateSoftmax);
  registry.add<nn::LogSoftmaxOp>(evaluateLogSoftmax);
  registry.add<nn::LayerNormOp>(evaluateLayerNorm);
  registry.add<nn::RmsNormOp>(evaluateRmsNorm);
  registry.add<nn::CrossEntropyOp>(evaluateCrossEntropy);
}
