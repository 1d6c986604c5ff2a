//===- AttentionScores.h - Scores of a tile of attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What both directions of attention share. Every option is a pass of its own
// over a tile that lies in the first-level cache, behind one test per tile: the
// plain case pays nothing for the others. Internal to each instruction set, see
// Vector.h.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_ATTENTIONSCORES_H
#define DIST_RUNTIME_HOST_ATTENTIONSCORES_H

#include "DropoutMask.h"
#include "Kernels.h"
#include "MicroKernel.h"
#include "Scratch.h"

namespace dist {
namespace {

/// Queries and keys of a tile; the distance of its rows in memory.
constexpr int64_t kTile = 64;

/// Queries [row, row + rows) times keys [column, column + columns). Query
/// row + i attends to none of the keys from column + i + edge on.
struct Tile {
  int64_t row, rows, column, columns, edge;

  /// Scores of row i that count.
  int64_t end(int64_t i) const { return most(0, least(columns, i + edge)); }
};

/// Columns that are computed: what is past the last key is masked.
template <typename T>
inline int64_t paddedColumns(const Tile &tile) {
  return roundUp(tile.columns, kBlockColumns<T>);
}

/// One query head.
struct Head {
  int64_t b, g, r;
};

/// Where element (b, g, r, s = 0) of a tensor with these strides is.
inline int64_t startOf(const int64_t strides[4], const Head &head) {
  return head.b * strides[0] + head.g * strides[1] + head.r * strides[2];
}

/// Which scores a head has and what becomes of q·k on the way to them.
template <typename T>
class Scores {
public:
  Scores(const AttentionInputs &in, const Head &head)
      : in(in), desc(*in.desc), head(head), mask(in.key, desc.dropout) {}

  /// The keys [first, end) that a query may attend to, segments aside.
  int64_t firstKey(int64_t row) const {
    int64_t first = desc.window ? position(row) - desc.window + 1 : 0;
    return least(most(first, 0), desc.t);
  }
  int64_t endKey(int64_t row) const {
    int64_t past = desc.causal ? 1 : desc.window ? desc.window : desc.t;
    return least(position(row) + past, desc.t);
  }

  /// The tile of at most kTile queries and keys that starts there.
  Tile tileAt(int64_t row, int64_t column) const {
    return {row, least(kTile, desc.s - row), column,
            least(kTile, desc.t - column),
            desc.causal ? position(row) + 1 - column : kNoEdge};
  }

  /// Whether any query of the tile may attend to any of its keys.
  bool isVisible(const Tile &tile) const {
    return firstKey(tile.row) < tile.column + tile.columns &&
           endKey(tile.row + tile.rows - 1) > tile.column;
  }

  /// Turns products of scaled queries and keys into scores, -inf where masked.
  /// Writes the derivative of the softcap to `slope` unless that is null.
  void finish(const Tile &tile, T *scores, T *slope) const {
    if (desc.softcap != 0)
      applySoftcap(tile, scores, slope);
    if (in.bias)
      addBias(tile, scores);
    if (in.segmentIds)
      maskSegments(tile, scores);
    maskEdges(tile, scores);
  }

  bool hasDropout() const { return in.key && desc.dropout > 0; }

  /// What dropout multiplies the probabilities of a row of the tile with.
  void dropoutFactors(const Tile &tile, int64_t row, T *factors) const {
    const int64_t *global = desc.global, *offset = desc.offset;
    uint64_t h = (offset[1] + head.g) * global[2] + offset[2] + head.r;
    uint64_t index = (offset[0] + head.b) * global[1] * global[2] + h;
    index = index * global[3] + offset[3] + tile.row + row;
    index = index * global[4] + tile.column;
    mask.factors(index, tile.columns, factors);
  }

private:
  int64_t position(int64_t row) const { return desc.offset[3] + row; }

  void applySoftcap(const Tile &tile, T *scores, T *slope) const {
    T cap = T(desc.softcap), inverse = T(1 / desc.softcap);
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; j += kLanes<T>) {
        T *at = scores + i * kTile + j;
        Vec<T> y = tanh(load(at) * inverse);
        store(at, y * cap);
        if (slope)
          store(slope + i * kTile + j, 1 - y * y);
      }
  }

  void addBias(const Tile &tile, T *scores) const {
    int64_t stride = desc.bias[4];
    for (int64_t i = 0; i < tile.rows; ++i) {
      const T *bias = static_cast<const T *>(in.bias) +
                      startOf(desc.bias, head) + (tile.row + i) * desc.bias[3] +
                      tile.column * stride;
      T *row = scores + i * kTile;
      if (stride == 1)
        for (int64_t j = 0; j < tile.columns; ++j)
          row[j] += bias[j];
      else
        for (int64_t j = 0; j < tile.columns; ++j)
          row[j] += bias[j * stride];
    }
  }

  void maskSegments(const Tile &tile, T *scores) const {
    const int32_t *ids = in.segmentIds + head.b * desc.t;
    for (int64_t i = 0; i < tile.rows; ++i) {
      int32_t own = ids[position(tile.row + i)];
      for (int64_t j = 0; j < tile.columns; ++j)
        if (ids[tile.column + j] != own)
          scores[i * kTile + j] = T(-__builtin_inf());
    }
  }

  void maskEdges(const Tile &tile, T *scores) const {
    int64_t last = tile.row + tile.rows - 1, padded = paddedColumns<T>(tile);
    if (firstKey(last) <= tile.column &&
        endKey(tile.row) >= tile.column + padded)
      return;
    for (int64_t i = 0; i < tile.rows; ++i) {
      T *row = scores + i * kTile;
      int64_t first = least(firstKey(tile.row + i) - tile.column, padded);
      int64_t end = most(endKey(tile.row + i) - tile.column, 0);
      for (int64_t j = 0; j < first; ++j)
        row[j] = T(-__builtin_inf());
      for (int64_t j = end; j < padded; ++j)
        row[j] = T(-__builtin_inf());
    }
  }

  const AttentionInputs &in;
  const dist_attention_desc &desc;
  Head head;
  DropoutMask mask;
};

/// Zeros the columns of row i of a tile that do not count; the vector that has
/// the first of them is masked already.
template <typename T>
inline void clearPastEnd(const Tile &at, int64_t i, T *tile) {
  for (int64_t j = roundUp(at.end(i), kLanes<T>); j < at.columns;
       j += kLanes<T>)
    store(tile + i * kTile + j, Vec<T>{});
}

/// to[columns][kTile] = the transpose of from[rows][columns], zeros behind.
template <typename T>
void packTransposed(const T *from, int64_t stride, int64_t rows,
                    int64_t columns, T *to) {
  for (int64_t p = 0; p < columns; ++p) {
    for (int64_t i = 0; i < rows; ++i)
      to[p * kTile + i] = from[i * stride + p];
    for (int64_t i = rows; i < kTile; ++i)
      to[p * kTile + i] = 0;
  }
}

/// to[rows][width] = factor * from[rows][columns], zeros behind.
template <typename T>
void packRows(const T *from, int64_t stride, int64_t rows, int64_t columns,
              T factor, T *to, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t p = 0; p < columns; ++p)
      to[i * width + p] = factor * from[i * stride + p];
    for (int64_t p = columns; p < width; ++p)
      to[i * width + p] = 0;
  }
}

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_ATTENTIONSCORES_H
