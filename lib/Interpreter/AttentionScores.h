//===- AttentionScores.h - What attention attends to ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_ATTENTIONSCORES_H
#define DIST_INTERPRETER_ATTENTIONSCORES_H

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Evaluation.h"
#include "io/Philox.h"

namespace dist::interp {

/// Sizes of an attention; `b g r s d` counts as h = g·r heads.
struct AttentionSizes {
  int64_t b, h, g, s, t, d, e;

  AttentionSizes(const Tensor &q, const Tensor &k, const Tensor &v);

  /// The kv head of query head `head`.
  int64_t getKvHead(int64_t head) const { return head * g / h; }
};

/// Reads scores, masks and dropout of one `nn.attention` or its gradient.
class AttentionScores {
public:
  template <typename OpTy>
  AttentionScores(OpTy op, const Evaluation &at)
      : at(at), sizes(at[op.getQ()], at[op.getK()], at[op.getV()]),
        q(at[op.getQ()].floats()), k(at[op.getK()].floats()),
        scale(op.getScale().convertToFloat()), causal(op.getCausal()),
        window(op.getWindow()), bias(at.lookup(op.getBias())),
        segments(at.lookup(op.getSegmentIds())) {
    if (auto cap = op.getSoftcap())
      softcap = cap->convertToFloat();
    place(op.getPlaceAttr(), at[op.getQ()].getShape());
    if (op.getDropout() && op.getKey())
      drop(op.getDropout()->convertToFloat(), at[op.getKey()]);
  }

  const AttentionSizes &getSizes() const { return sizes; }

  /// Query row `row` of all `b h s`.
  struct Row {
    int64_t b, h, s;    ///< the query's indices
    int64_t query, key; ///< first elements in q, and of the kv head in k rows
    int64_t scores;     ///< index of its first score in `b h s t`
  };
  Row getRow(int64_t row) const;

  bool isVisible(const Row &row, int64_t t) const;

  /// The scaled and capped score of key `t`, without bias.
  double getCapped(const Row &row, int64_t t) const;
  /// The score that the softmax reads.
  double getScore(const Row &row, int64_t t) const;
  /// The derivative of a capped score by its product q·k.
  double getSlope(double capped) const;

  /// What a probability is multiplied by: 1/(1 − rate), or 0 where dropped.
  double getKeep(const Row &row, int64_t t) const;

  /// The element of the bias that key `t` reads.
  int64_t getBiasIndex(const Row &row, int64_t t) const {
    return biasIndices[row.scores + t];
  }
  bool hasBias() const { return bias; }

private:
  void place(PlaceAttr place, llvm::ArrayRef<int64_t> queryShape);
  void indexBias(llvm::ArrayRef<int64_t> scoreShape);
  void drop(double rate, const Tensor &key);

  const Evaluation &at;
  AttentionSizes sizes;
  llvm::ArrayRef<double> q, k;
  double scale;
  double softcap = 0; ///< 0: none
  bool causal;
  std::optional<int64_t> window;
  const Tensor *bias, *segments;        ///< null where absent
  int64_t firstQuery = 0, firstKey = 0; ///< global positions
  std::vector<int64_t> globalIndices;   ///< by score
  std::vector<int64_t> biasIndices;     ///< by score; empty without a bias
  double dropRate = 0;
  io::PhiloxKey dropKey;
};

} // namespace dist::interp

#endif // DIST_INTERPRETER_ATTENTIONSCORES_H
