//===- AttentionForward.h - Attention of one head, forward ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each tile of queries, runs over the tiles of keys with an online softmax:
// per query the largest score so far, the sum of exponentials below it and the
// sum of values under the same weights. Internal to each instruction set, see
// Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_ATTENTIONFORWARD_H
#define DIST_RUNTIME_HOST_ATTENTIONFORWARD_H

#include "AttentionScores.h"

namespace dist {
namespace {

template <typename T>
class ForwardHead {
public:
  ForwardHead(const AttentionCall &call, const Head &head)
      : call(call), desc(*call.desc), head(head), scores(call, head),
        width(roundUp(desc.e, kBlockColumns<T>)) {
    cut(ScratchCutter());
  }

  void run() {
    cut(ScratchCutter(threadScratch(bytes)));
    packKeysAndValues();
    for (int64_t row = 0; row < desc.s; row += kTile)
      runQueries(row, least(kTile, desc.s - row));
  }

private:
  void cut(ScratchCutter cutter) {
    int64_t tiles = (desc.t + kTile - 1) / kTile;
    keys = cutter.take<T>(tiles * kTile * desc.d);
    values = cutter.take<T>(desc.t * width);
    queries = cutter.take<T>(kTile * desc.d);
    tile = cutter.take<T>(kTile * kTile);
    result = cutter.take<T>(kTile * width);
    largest = cutter.take<T>(kTile);
    sums = cutter.take<T>(kTile);
    factors = cutter.take<T>(kTile);
    bytes = cutter.bytes();
  }

  void packKeysAndValues() {
    const T *k = static_cast<const T *>(call.k) + head.b * desc.k[0] +
                 head.g * desc.k[1];
    const T *v = static_cast<const T *>(call.v) + head.b * desc.v[0] +
                 head.g * desc.v[1];
    for (int64_t column = 0; column < desc.t; column += kTile)
      packTransposed(k + column * desc.k[2], desc.k[2],
                     least(kTile, desc.t - column), desc.d,
                     keys + column * desc.d);
    packRows(v, desc.v[2], desc.t, desc.e, T(1), values, width);
  }

  void runQueries(int64_t row, int64_t rows) {
    const T *q = static_cast<const T *>(call.q) + startOf(desc.q, head);
    packRows(q + row * desc.q[3], desc.q[3], rows, desc.d, T(desc.scale),
             queries, desc.d);
    for (int64_t i = 0; i < rows; ++i)
      largest[i] = T(-__builtin_inf()), sums[i] = 0;
    for (int64_t i = 0; i < rows * width; ++i)
      result[i] = 0;
    int64_t end = scores.endKey(row + rows - 1);
    for (int64_t column = scores.firstKey(row) / kTile * kTile; column < end;
         column += kTile)
      addKeys(scores.tileAt(row, column));
    write(row, rows);
  }

  void addKeys(const Tile &at) {
    multiply<T, Product::ToTile>(at.rows, paddedColumns<T>(at), desc.d, queries,
                                 desc.d, keys + at.column * desc.d, kTile, tile,
                                 kTile, false, at.edge);
    scores.finish(at, tile, nullptr);
    for (int64_t i = 0; i < at.rows; ++i) {
      softmaxRow(i, at.end(i));
      clearPastEnd(at, i, tile);
    }
    if (scores.hasDropout())
      dropProbabilities(at);
    multiply<T, Product::FromTile>(at.rows, width, at.columns, tile, kTile,
                                   values + at.column * width, width, result,
                                   width, true, at.edge);
  }

  /// Replaces the scores of a row by exponentials below the new largest one.
  void softmaxRow(int64_t i, int64_t columns) {
    T *row = tile + i * kTile;
    Vec<T> maxima = Vec<T>{} + largest[i];
    for (int64_t j = 0; j < columns; j += kLanes<T>) {
      Vec<T> x = load(row + j);
      maxima = x > maxima ? x : maxima;
    }
    T before = largest[i], now = before;
    for (int64_t lane = 0; lane < kLanes<T>; ++lane)
      now = maxima[lane] > now ? maxima[lane] : now;
    // Nothing to attend to so far: any finite number gives exponentials of 0.
    T below = now == T(-__builtin_inf()) ? 0 : now;
    Vec<T> sum{};
    for (int64_t j = 0; j < columns; j += kLanes<T>) {
      Vec<T> p = exp(load(row + j) - below);
      store(row + j, p);
      sum += p;
    }
    T total = 0;
    for (int64_t lane = 0; lane < kLanes<T>; ++lane)
      total += sum[lane];
    largest[i] = now;
    if (before == now) {
      sums[i] += total;
      return;
    }
    T shrink = exp(before - below);
    sums[i] = sums[i] * shrink + total;
    for (int64_t p = 0; p < width; p += kLanes<T>)
      store(result + i * width + p, load(result + i * width + p) * shrink);
  }

  void dropProbabilities(const Tile &at) {
    for (int64_t i = 0; i < at.rows; ++i) {
      scores.dropoutFactors(at, i, factors);
      for (int64_t j = 0; j < at.columns; ++j)
        tile[i * kTile + j] *= factors[j];
    }
  }

  void write(int64_t row, int64_t rows) {
    T *o = static_cast<T *>(call.o) + startOf(desc.o, head) + row * desc.o[3];
    T *lse = static_cast<T *>(call.lse) + row +
             ((head.b * desc.g + head.g) * desc.r + head.r) * desc.s;
    for (int64_t i = 0; i < rows; ++i) {
      T inverse = sums[i] == 0 ? 0 : 1 / sums[i];
      for (int64_t p = 0; p < desc.e; ++p)
        o[i * desc.o[3] + p] = result[i * width + p] * inverse;
      lse[i] = largest[i] + log(sums[i]);
    }
  }

  const AttentionCall &call;
  const dist_attention_desc &desc;
  Head head;
  Scores<T> scores;
  int64_t width; ///< Of rows of values and results: e, rounded up.
  int64_t bytes = 0;
  T *keys;    ///< Tiles of [d][kTile].
  T *values;  ///< [t][width]
  T *queries; ///< [kTile][d], scaled.
  T *tile;    ///< [kTile][kTile], scores, then exponentials.
  T *result;  ///< [kTile][width]
  T *largest, *sums, *factors;
};

/// The rows are heads (b, g, r), the last fastest.
template <typename T>
void attentionTask(void *args, int64_t lo, int64_t hi) {
  const auto &call = *static_cast<const AttentionCall *>(args);
  int64_t g = call.desc->g, r = call.desc->r;
  for (int64_t i = lo; i < hi; ++i)
    ForwardHead<T>(call, {i / r / g, i / r % g, i % r}).run();
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_ATTENTIONFORWARD_H
