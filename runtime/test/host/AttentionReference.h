//===- AttentionReference.h - Attention as it is defined --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In f64, whole matrices, one element at a time. Tensors are contiguous here:
// q `b g r s d`, k `b g t d`, v `b g t e`, o `b g r s e`; the bias and its
// gradient `b g r s t`, broadcast by their strides.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_HOST_ATTENTIONREFERENCE_H
#define DIST_RUNTIME_TEST_HOST_ATTENTIONREFERENCE_H

#include "dist/runtime.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace dist::test {

/// A block of Philox4x32-10, as its authors write it.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0], p1 = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ key[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ key[1], uint32_t(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

using Values = std::vector<double>;

/// What goes into attention; empty where an option is not used.
struct AttentionValues {
  Values q, k, v, bias, gradO;
  std::vector<int32_t> segmentIds, key;
};

struct AttentionResults {
  Values o, lse, dq, dk, dv, dbias;
};

class AttentionReference {
public:
  AttentionReference(const dist_attention_desc &desc, const AttentionValues &in)
      : d(desc), in(in), slopes(d.t), factors(d.t), p(d.t) {}

  /// With gradients where `in.gradO` is there.
  AttentionResults run() {
    out.o.resize(d.b * d.g * d.r * d.s * d.e);
    out.lse.resize(d.b * d.g * d.r * d.s);
    out.dq.resize(in.q.size());
    out.dk.resize(in.k.size());
    out.dv.resize(in.v.size());
    out.dbias.resize(in.bias.size());
    for (int64_t b = 0; b < d.b; ++b)
      for (int64_t g = 0; g < d.g; ++g)
        for (int64_t r = 0; r < d.r; ++r)
          for (int64_t s = 0; s < d.s; ++s)
            runRow(b, g, r, s);
    return out;
  }

private:
  bool isVisible(int64_t b, int64_t s, int64_t t) const {
    int64_t position = d.offset[3] + s;
    if (d.causal && t > position)
      return false;
    if (d.window && std::abs(position - t) >= d.window)
      return false;
    const auto &ids = in.segmentIds;
    return ids.empty() || ids[b * d.t + position] == ids[b * d.t + t];
  }

  double factor(int64_t b, int64_t g, int64_t r, int64_t s, int64_t t) const {
    if (in.key.empty())
      return 1;
    uint64_t at = d.offset[0] + b;
    at = at * d.global[1] + d.offset[1] + g;
    at = at * d.global[2] + d.offset[2] + r;
    at = at * d.global[3] + d.offset[3] + s;
    at = at * d.global[4] + t;
    auto words = philox({uint32_t(at / 4), uint32_t(at / 4 >> 32), 0, 0},
                        {uint32_t(in.key[0]), uint32_t(in.key[1])});
    bool kept = words[at % 4] < std::floor((1 - d.dropout) * 0x1p32);
    return kept ? 1 / (1 - d.dropout) : 0;
  }

  static double dot(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += x[i] * y[i];
    return sum;
  }

  void runRow(int64_t b, int64_t g, int64_t r, int64_t s) {
    int64_t row = ((b * d.g + g) * d.r + r) * d.s + s;
    int64_t keys = (b * d.g + g) * d.t;
    const double *q = in.q.data() + row * d.d;
    const int64_t *strides = d.bias;
    int64_t biasAt =
        b * strides[0] + g * strides[1] + r * strides[2] + s * strides[3];
    double sum = 0;
    for (int64_t t = 0; t < d.t; ++t) {
      double x = d.scale * dot(q, in.k.data() + (keys + t) * d.d, d.d);
      slopes[t] = 1;
      if (d.softcap != 0) {
        double y = std::tanh(x / d.softcap);
        x = d.softcap * y;
        slopes[t] = 1 - y * y;
      }
      if (!in.bias.empty())
        x += in.bias[biasAt + t * strides[4]];
      p[t] = isVisible(b, s, t) ? std::exp(x) : 0;
      factors[t] = factor(b, g, r, s, t);
      sum += p[t];
    }
    out.lse[row] = std::log(sum);
    for (int64_t t = 0; t < d.t; ++t) {
      p[t] = sum == 0 ? 0 : p[t] / sum;
      for (int64_t c = 0; c < d.e; ++c)
        out.o[row * d.e + c] += p[t] * factors[t] * in.v[(keys + t) * d.e + c];
    }
    if (!in.gradO.empty())
      differentiateRow(row, keys, biasAt);
  }

  void differentiateRow(int64_t row, int64_t keys, int64_t biasAt) {
    const double *grad = in.gradO.data() + row * d.e;
    double mean = dot(out.o.data() + row * d.e, grad, d.e);
    for (int64_t t = 0; t < d.t; ++t) {
      const double *v = in.v.data() + (keys + t) * d.e;
      double dp = factors[t] * dot(grad, v, d.e), ds = p[t] * (dp - mean);
      if (!in.bias.empty())
        out.dbias[biasAt + t * d.bias[4]] += ds;
      ds *= slopes[t] * d.scale;
      for (int64_t c = 0; c < d.e; ++c)
        out.dv[(keys + t) * d.e + c] += p[t] * factors[t] * grad[c];
      for (int64_t c = 0; c < d.d; ++c) {
        out.dq[row * d.d + c] += ds * in.k[(keys + t) * d.d + c];
        out.dk[(keys + t) * d.d + c] += ds * in.q[row * d.d + c];
      }
    }
  }

  const dist_attention_desc &d;
  const AttentionValues &in;
  AttentionResults out;
  Values slopes, factors, p;
};

} // namespace dist::test

#endif // DIST_RUNTIME_TEST_HOST_ATTENTIONREFERENCE_H
