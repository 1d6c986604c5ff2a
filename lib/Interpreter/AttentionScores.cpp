//===- AttentionScores.cpp - What attention attends to --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include <cmath>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

AttentionSizes::AttentionSizes(const Tensor &q, const Tensor &k,
                               const Tensor &v)
    : b(q.getDimSize(0)), h(q.getDimSize(1)), g(k.getDimSize(1)),
      s(q.getDimSize(q.getRank() - 2)), t(k.getDimSize(2)), d(k.getDimSize(3)),
      e(v.getDimSize(3)) {
  if (q.getRank() == 5)
    h *= q.getDimSize(2);
}

AttentionScores::Row AttentionScores::getRow(int64_t row) const {
  int64_t s = row % sizes.s, h = row / sizes.s % sizes.h;
  int64_t b = row / (sizes.s * sizes.h);
  int64_t kv = b * sizes.g + sizes.getKvHead(h);
  return {b, h, s, row * sizes.d, kv * sizes.t, row * sizes.t};
}

void AttentionScores::place(PlaceAttr place, ArrayRef<int64_t> queryShape) {
  Shape shape(queryShape);
  shape.back() = sizes.t;
  if (place) {
    int64_t dims = shape.size();
    globalIndices = at.getGlobalIndices(place, shape);
    firstQuery = at.getBlock(place, dims - 2, sizes.s).first;
    firstKey = at.getBlock(place, dims - 1, sizes.t).first;
  }
  if (bias)
    indexBias(shape);
}

void AttentionScores::indexBias(ArrayRef<int64_t> scoreShape) {
  Shape strides = getStrides(bias->getShape());
  for (auto [stride, size] : llvm::zip_equal(strides, bias->getShape()))
    if (size == 1)
      stride = 0;
  strides.insert(strides.begin(), scoreShape.size() - strides.size(), 0);
  biasIndices = getOffsets(scoreShape, strides);
}

void AttentionScores::drop(double rate, const Tensor &key) {
  dropRate = rate;
  dropKey = {static_cast<uint32_t>(key.ints()[0]),
             static_cast<uint32_t>(key.ints()[1])};
}

bool AttentionScores::isVisible(const Row &row, int64_t t) const {
  int64_t query = firstQuery + row.s, key = firstKey + t;
  if (causal && key > query)
    return false;
  if (window && key <= query - *window)
    return false;
  return !segments || segments->ints()[row.b * sizes.s + row.s] ==
                          segments->ints()[row.b * sizes.s + t];
}

double AttentionScores::getCapped(const Row &row, int64_t t) const {
  const double *x = q.data() + row.query;
  const double *y = k.data() + (row.key + t) * sizes.d;
  double dot = 0;
  for (int64_t i = 0; i < sizes.d; ++i)
    dot += x[i] * y[i];
  double score = dot * scale;
  return softcap == 0 ? score : softcap * std::tanh(score / softcap);
}

double AttentionScores::getScore(const Row &row, int64_t t) const {
  double capped = getCapped(row, t);
  return bias ? capped + bias->floats()[getBiasIndex(row, t)] : capped;
}

double AttentionScores::getSlope(double capped) const {
  if (softcap == 0)
    return scale;
  double tanh = capped / softcap;
  return scale * (1 - tanh * tanh);
}

double AttentionScores::getKeep(const Row &row, int64_t t) const {
  if (dropRate == 0)
    return 1;
  int64_t index = row.scores + t;
  if (!globalIndices.empty())
    index = globalIndices[index];
  bool isKept =
      io::dropoutKeeps(dropKey, index, io::dropoutThreshold(dropRate));
  return isKept ? 1 / (1 - dropRate) : 0;
}
