//===- AttentionBackward.h - Attention of one head, backward ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With P the probabilities, recomputed from `lse`, and D = rowsum(o * do):
//
//   dv = P^T do,  dS = P * (do v^T - D),  dq = scale dS k,  dk = scale dS^T q
//
// Runs over the tiles of keys; for each over the tiles of queries. One task
// does all heads of a group, one after the other, so sums over them have one
// order. Internal to each instruction set, see Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_ATTENTIONBACKWARD_H
#define DIST_RUNTIME_HOST_ATTENTIONBACKWARD_H

#include "AttentionScores.h"

namespace dist {
namespace {

template <typename T>
class BackwardHead {
public:
  BackwardHead(const AttentionGradCall &call, const Head &head)
      : call(call), desc(*call.desc), head(head), scores(call, head),
        width(roundUp(desc.d, kBlockColumns<T>)),
        valueWidth(roundUp(desc.e, kBlockColumns<T>)) {
    cut(ScratchCutter());
  }

  void run() {
    cut(ScratchCutter(threadScratch(bytes)));
    packQueries();
    for (int64_t column = 0; column < desc.t; column += kTile)
      runKeys(column, least(kTile, desc.t - column));
    T *to = static_cast<T *>(call.dq) + startOf(call.grad->dq, head);
    for (int64_t i = 0; i < desc.s; ++i)
      for (int64_t p = 0; p < desc.d; ++p)
        to[i * call.grad->dq[3] + p] = T(desc.scale) * dq[i * width + p];
  }

private:
  void cut(ScratchCutter cutter) {
    queries = cutter.take<T>(desc.s * width);
    dq = cutter.take<T>(desc.s * width);
    gradO = cutter.take<T>(desc.s * valueWidth);
    lse = cutter.take<T>(desc.s);
    dots = cutter.take<T>(desc.s);
    keys = cutter.take<T>(kTile * width);
    keysTransposed = cutter.take<T>(desc.d * kTile);
    valuesTransposed = cutter.take<T>(desc.e * kTile);
    dk = cutter.take<T>(kTile * width);
    dv = cutter.take<T>(kTile * valueWidth);
    tile = cutter.take<T>(kTile * kTile);
    grads = cutter.take<T>(kTile * kTile);
    slope = desc.softcap != 0 ? cutter.take<T>(kTile * kTile) : nullptr;
    factors = cutter.take<T>(kTile);
    bytes = cutter.bytes();
  }

  void packQueries() {
    const int64_t *strides = call.grad->grad_o;
    const T *q = static_cast<const T *>(call.q) + startOf(desc.q, head);
    const T *o = static_cast<const T *>(call.o) + startOf(desc.o, head);
    const T *g = static_cast<const T *>(call.gradO) + startOf(strides, head);
    const T *from = static_cast<const T *>(call.lse) +
                    ((head.b * desc.g + head.g) * desc.r + head.r) * desc.s;
    packRows(q, desc.q[3], desc.s, desc.d, T(desc.scale), queries, width);
    packRows(g, strides[3], desc.s, desc.e, T(1), gradO, valueWidth);
    for (int64_t i = 0; i < desc.s * width; ++i)
      dq[i] = 0;
    for (int64_t i = 0; i < desc.s; ++i) {
      dots[i] = dot(o + i * desc.o[3], gradO + i * valueWidth, desc.e);
      // Where a row attends to nothing every exponential is to be 0.
      T inf = T(__builtin_inf());
      lse[i] = from[i] == -inf ? inf : from[i];
    }
  }

  static T dot(const T *x, const T *y, int64_t n) {
    Vec<T> sums{};
    int64_t i = 0;
    for (; i + kLanes<T> <= n; i += kLanes<T>)
      sums += load(x + i) * load(y + i);
    T sum = 0;
    for (; i < n; ++i)
      sum += x[i] * y[i];
    for (int64_t lane = 0; lane < kLanes<T>; ++lane)
      sum += sums[lane];
    return sum;
  }

  void runKeys(int64_t column, int64_t columns) {
    const T *k = static_cast<const T *>(call.k) + head.b * desc.k[0] +
                 head.g * desc.k[1] + column * desc.k[2];
    const T *v = static_cast<const T *>(call.v) + head.b * desc.v[0] +
                 head.g * desc.v[1] + column * desc.v[2];
    packRows(k, desc.k[2], columns, desc.d, T(1), keys, width);
    packTransposed(k, desc.k[2], columns, desc.d, keysTransposed);
    packTransposed(v, desc.v[2], columns, desc.e, valuesTransposed);
    for (int64_t i = 0; i < columns * width; ++i)
      dk[i] = 0;
    for (int64_t i = 0; i < columns * valueWidth; ++i)
      dv[i] = 0;
    for (int64_t row = 0; row < desc.s; row += kTile) {
      Tile at = scores.tileAt(row, column);
      if (scores.isVisible(at))
        addQueries(at);
    }
    writeKeys(column, columns);
  }

  void addQueries(const Tile &at) {
    const T *q = queries + at.row * width, *g = gradO + at.row * valueWidth;
    multiply<T, Product::ToTile>(at.rows, paddedColumns<T>(at), desc.d, q,
                                 width, keysTransposed, kTile, tile, kTile,
                                 false, at.edge);
    scores.finish(at, tile, slope);
    multiply<T, Product::ToTile>(at.rows, paddedColumns<T>(at), desc.e, g,
                                 valueWidth, valuesTransposed, kTile, grads,
                                 kTile, false, at.edge);
    for (int64_t i = 0; i < at.rows; ++i) {
      if (scores.hasDropout())
        differentiateDroppedRow(at, i);
      else
        differentiateRow(at, i);
      clearPastEnd(at, i, tile);
      clearPastEnd(at, i, grads);
      if (call.dbias)
        addToBias(at, i);
      if (slope)
        for (int64_t j = i * kTile; j < i * kTile + at.end(i); ++j)
          grads[j] *= slope[j];
    }
    multiply<T, Product::FromTransposed>(at.columns, valueWidth, at.rows, tile,
                                         kTile, g, valueWidth, dv, valueWidth,
                                         true, at.edge);
    multiply<T, Product::FromTransposed>(at.columns, width, at.rows, grads,
                                         kTile, q, width, dk, width, true,
                                         at.edge);
    multiply<T, Product::FromTile>(at.rows, width, at.columns, grads, kTile,
                                   keys, width, dq + at.row * width, width,
                                   true, at.edge);
  }

  /// Scores become probabilities; their gradients those of the scores.
  void differentiateRow(const Tile &at, int64_t i) {
    T sum = lse[at.row + i], dot = dots[at.row + i];
    for (int64_t j = 0; j < at.end(i); j += kLanes<T>) {
      T *score = tile + i * kTile + j, *grad = grads + i * kTile + j;
      Vec<T> p = exp(load(score) - sum);
      store(score, p);
      store(grad, p * (load(grad) - dot));
    }
  }

  /// The same where probabilities are dropped on their way to the values.
  void differentiateDroppedRow(const Tile &at, int64_t i) {
    T sum = lse[at.row + i], dot = dots[at.row + i];
    scores.dropoutFactors(at, i, factors);
    for (int64_t j = at.columns; j < paddedColumns<T>(at); ++j)
      factors[j] = 0;
    for (int64_t j = 0; j < at.end(i); j += kLanes<T>) {
      T *score = tile + i * kTile + j, *grad = grads + i * kTile + j;
      Vec<T> p = exp(load(score) - sum), factor = load(factors + j);
      store(score, p * factor);
      store(grad, p * (load(grad) * factor - dot));
    }
  }

  void addToBias(const Tile &at, int64_t i) {
    const int64_t *strides = call.dbiasStrides;
    T *to = static_cast<T *>(call.dbias) + startOf(strides, head) +
            (at.row + i) * strides[3] + at.column * strides[4];
    const T *row = grads + i * kTile;
    if (strides[4]) {
      for (int64_t j = 0; j < at.end(i); ++j)
        to[j] += row[j];
      return;
    }
    T sum = 0;
    for (int64_t j = 0; j < at.end(i); ++j)
      sum += row[j];
    *to += sum;
  }

  void writeKeys(int64_t column, int64_t columns) {
    const dist_attention_grad_desc &grad = *call.grad;
    T *toKeys = static_cast<T *>(call.dk) + head.b * grad.dk[0] +
                head.g * grad.dk[1] + column * grad.dk[2];
    T *toValues = static_cast<T *>(call.dv) + head.b * grad.dv[0] +
                  head.g * grad.dv[1] + column * grad.dv[2];
    addRows(dk, width, columns, desc.d, toKeys, grad.dk[2]);
    addRows(dv, valueWidth, columns, desc.e, toValues, grad.dv[2]);
  }

  /// The first head of a group overwrites, the others add.
  void addRows(const T *from, int64_t fromStride, int64_t rows, int64_t columns,
               T *to, int64_t toStride) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t p = 0; p < columns; ++p) {
        T x = from[i * fromStride + p];
        to[i * toStride + p] = head.r ? to[i * toStride + p] + x : x;
      }
  }

  const AttentionGradCall &call;
  const dist_attention_desc &desc;
  Head head;
  Scores<T> scores;
  int64_t width, valueWidth; ///< d and e, rounded up.
  int64_t bytes = 0;
  T *queries, *dq, *gradO; ///< [s][width], q scaled; gradO [s][valueWidth].
  T *lse, *dots;           ///< [s]; dots is D.
  T *keys, *dk, *dv;       ///< [kTile][width or valueWidth]
  T *keysTransposed, *valuesTransposed; ///< [d or e][kTile]
  T *tile, *grads; ///< [kTile][kTile], scores and their gradients.
  T *slope;        ///< The same, derivatives of the softcap; or null.
  T *factors;
};

/// Elements of dbias that one (b, g) adds to; they lie together.
inline int64_t biasSlice(const AttentionGradCall &call) {
  const dist_attention_desc &desc = *call.desc;
  return (call.dbiasStrides[2] ? desc.r : 1) *
         (call.dbiasStrides[3] ? desc.s : 1) *
         (call.dbiasStrides[4] ? desc.t : 1);
}

/// The rows are the (b, g) that have a slice of dbias of their own; all that
/// share one are done in order.
template <typename T>
void attentionGradTask(void *args, int64_t lo, int64_t hi) {
  const auto &call = *static_cast<const AttentionGradCall *>(args);
  const dist_attention_desc &desc = *call.desc;
  int64_t sharedB = call.dbias && !call.dbiasStrides[0] ? desc.b : 1;
  int64_t sharedG = call.dbias && !call.dbiasStrides[1] ? desc.g : 1;
  int64_t groups = desc.g / sharedG;
  for (int64_t i = lo; i < hi; ++i) {
    Head first = {i / groups, i % groups, 0};
    if (call.dbias)
      __builtin_memset(static_cast<T *>(call.dbias) +
                           startOf(call.dbiasStrides, first),
                       0, biasSlice(call) * sizeof(T));
    for (int64_t b = 0; b < sharedB; ++b)
      for (int64_t g = 0; g < sharedG; ++g)
        for (int64_t r = 0; r < desc.r; ++r)
          BackwardHead<T>(call, {first.b + b, first.g + g, r}).run();
  }
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_ATTENTIONBACKWARD_H
