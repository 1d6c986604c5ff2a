//===- Attention.cpp - Evaluates attention and rotary positions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static constexpr double kNegativeInfinity =
    -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The probabilities of one row, before dropout, at `weights`; returns their
/// log-sum-exp: -inf, and no weight, where nothing is seen.
static double getWeights(const AttentionScores &scores,
                         const AttentionScores::Row &row,
                         std::vector<double> &weights) {
  double highest = kNegativeInfinity, sum = 0;
  for (size_t t = 0; t < weights.size(); ++t) {
    weights[t] =
        scores.isVisible(row, t) ? scores.getScore(row, t) : kNegativeInfinity;
    highest = std::max(highest, weights[t]);
  }
  if (highest == kNegativeInfinity) {
    llvm::fill(weights, 0.0);
    return highest;
  }
  for (double &weight : weights)
    sum += weight = std::exp(weight - highest);
  for (double &weight : weights)
    weight /= sum;
  return highest + std::log(sum);
}

static Results evaluateAttention(nn::AttentionOp op, const Evaluation &at) {
  AttentionScores scores(op, at);
  const AttentionSizes &n = scores.getSizes();
  ArrayRef<double> v = at[op.getV()].floats();
  int64_t rows = n.b * n.h * n.s;
  std::vector<double> out(rows * n.e), lse(rows), weights(n.t);
  for (int64_t i = 0; i < rows; ++i) {
    AttentionScores::Row row = scores.getRow(i);
    lse[i] = getWeights(scores, row, weights);
    for (int64_t t = 0; t < n.t; ++t) {
      double weight = weights[t];
      if (weight == 0 || (weight *= scores.getKeep(row, t)) == 0)
        continue;
      for (int64_t j = 0; j < n.e; ++j)
        out[i * n.e + j] += weight * v[(row.key + t) * n.e + j];
    }
  }
  SmallVector<Tensor, 1> results{at.makeResult(std::move(out), 0)};
  if (op.getLse())
    results.push_back(at.makeResult(std::move(lse), 1));
  return results;
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

namespace {
/// The cotangents of an attention's operands, row by row.
class AttentionGradient {
public:
  AttentionGradient(nn::AttentionGradOp op, const Evaluation &at)
      : scores(op, at), n(scores.getSizes()), q(at[op.getQ()].floats()),
        k(at[op.getK()].floats()), v(at[op.getV()].floats()),
        out(at[op.getOut()].floats()), lse(at[op.getLse()].floats()),
        grad(at[op.getGrad()].floats()), dq(q.size()), dk(k.size()),
        dv(v.size()) {
    if (scores.hasBias())
      dbias.resize(at[op.getBias()].getNumElements());
  }

  void compute() {
    for (int64_t i = 0; i < n.b * n.h * n.s; ++i)
      if (lse[i] != kNegativeInfinity)
        addRow(i);
  }

private:
  /// With p = softmax, w = p·keep and o = Σ w v:
  /// dv += w·do and d score = p·(keep·(do·v) − do·o).
  void addRow(int64_t i) {
    AttentionScores::Row row = scores.getRow(i);
    const double *dout = grad.data() + i * n.e;
    double own = dot(dout, out.data() + i * n.e, n.e);
    for (int64_t t = 0; t < n.t; ++t) {
      if (!scores.isVisible(row, t))
        continue;
      double p = std::exp(scores.getScore(row, t) - lse[i]);
      double keep = scores.getKeep(row, t);
      int64_t value = (row.key + t) * n.e;
      for (int64_t j = 0; j < n.e; ++j)
        dv[value + j] += p * keep * dout[j];
      double dscore = p * (keep * dot(dout, v.data() + value, n.e) - own);
      if (scores.hasBias())
        dbias[scores.getBiasIndex(row, t)] += dscore;
      addScore(row, t, dscore * scores.getSlope(scores.getCapped(row, t)));
    }
  }

  void addScore(const AttentionScores::Row &row, int64_t t, double dproduct) {
    int64_t key = (row.key + t) * n.d;
    for (int64_t j = 0; j < n.d; ++j) {
      dq[row.query + j] += dproduct * k[key + j];
      dk[key + j] += dproduct * q[row.query + j];
    }
  }

  static double dot(const double *a, const double *b, int64_t size) {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += a[i] * b[i];
    return sum;
  }

  AttentionScores scores;
  const AttentionSizes &n;
  ArrayRef<double> q, k, v, out, lse, grad;

public:
  std::vector<double> dq, dk, dv, dbias;
};
} // namespace

static Results evaluateAttentionGrad(nn::AttentionGradOp op,
                                     const Evaluation &at) {
  AttentionGradient gradient(op, at);
  gradient.compute();
  SmallVector<Tensor, 1> results{at.makeResult(std::move(gradient.dq), 0),
                                 at.makeResult(std::move(gradient.dk), 1),
                                 at.makeResult(std::move(gradient.dv), 2)};
  if (op.getDbias())
    results.push_back(at.makeResult(std::move(gradient.dbias), 3));
  return results;
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

/// The angle of each pair at position 1.
static std::vector<double> getFrequencies(nn::RopeOp op, const Evaluation &at,
                                          int64_t dims) {
  if (const Tensor *freqs = at.lookup(op.getFreqs()))
    return freqs->floats();
  double theta = op.getTheta()->convertToFloat();
  std::vector<double> frequencies;
  for (int64_t i = 0; i < dims / 2; ++i)
    frequencies.push_back(std::pow(theta, -2.0 * i / dims));
  return frequencies;
}

static Results evaluateRope(nn::RopeOp op, const Evaluation &at) {
  const Tensor &input = at[op.getInput()], &positions = at[op.getPositions()];
  ArrayRef<int64_t> shape = input.getShape();
  int64_t width = shape.back(), s = shape[shape.size() - 2];
  int64_t dims = op.getDims().value_or(width);
  std::vector<double> frequencies = getFrequencies(op, at, dims);
  std::vector<double> values(input.floats());
  int64_t rows = s * width ? input.getNumElements() / width : 0;
  int64_t rowsPerBatch = rows ? rows / shape[0] : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t position = row % s;
    if (positions.getRank() == 2)
      position += row / rowsPerBatch * s;
    for (int64_t i = 0; i < dims / 2; ++i) {
      double angle = positions.ints()[position] * frequencies[i];
      double sine = op.getInverse() ? -std::sin(angle) : std::sin(angle);
      double cosine = std::cos(angle);
      double *pair = values.data() + row * width;
      double &a = pair[op.getInterleaved() ? 2 * i : i];
      double &b = pair[op.getInterleaved() ? 2 * i + 1 : i + dims / 2];
      double x = a, y = b;
      a = x * cosine - y * sine;
      b = y * cosine + x * sine;
    }
  }
  return at.makeResult(std::move(values));
}

void dist::interp::populateAttentionEvaluators(EvaluatorRegistry &registry) {
  registry.add<nn::AttentionOp>(evaluateAttention);
  registry.add<nn::AttentionGradOp>(evaluateAttentionGrad);
  registry.add<nn::RopeOp>(evaluateRope);
}
