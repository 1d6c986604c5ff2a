//===- AttentionProblem.h - Cases of attention and their runs ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_HOST_ATTENTIONPROBLEM_H
#define DIST_RUNTIME_TEST_HOST_ATTENTIONPROBLEM_H

#include "AttentionReference.h"
#include "TestPool.h"
#include "host/Kernels.h"
#include "host/Scratch.h"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <random>

namespace dist::test {

/// Where the tensors of a case lie.
enum class Layout {
  Contiguous,
  Fused, ///< q, k, v interleaved as `b s c h k`; o as `b s h e`.
};

struct Case {
  int64_t b = 1, g = 1, r = 1, s = 1, t = 1, d = 1, e = 1;
  bool causal = false, segments = false;
  int64_t window = 0;
  double softcap = 0, dropout = 0;
  /// Which of b, g, r, s, t a bias has; none is no bias.
  std::array<bool, 5> bias = {};
  Layout layout = Layout::Contiguous;
};

inline std::ostream &operator<<(std::ostream &os, const Case &c) {
  os << "b g r s t d e " << c.b << " " << c.g << " " << c.r << " " << c.s << " "
     << c.t << " " << c.d << " " << c.e << (c.causal ? " causal" : "")
     << (c.segments ? " segments" : "") << " window " << c.window << " softcap "
     << c.softcap << " dropout " << c.dropout << " bias ";
  for (bool has : c.bias)
    os << has;
  return os << (c.layout == Layout::Fused ? " fused" : "");
}

inline bool hasBias(const Case &c) {
  return std::find(c.bias.begin(), c.bias.end(), true) != c.bias.end();
}

/// Strides and sizes of one tensor of `b g r s width` (or `b g t width`).
struct Place {
  std::array<int64_t, 4> strides;
  int64_t start, size;
};

inline Place contiguous(int64_t b, int64_t g, int64_t r, int64_t s,
                        int64_t width) {
  return {{g * r * s * width, r * s * width, s * width, width},
          0,
          b * g * r * s * width};
}

/// Head (g, r) of part `part` of `parts`, each `heads` heads wide, in rows of
/// `parts * heads * width` and some padding.
inline Place fused(int64_t b, int64_t g, int64_t r, int64_t s, int64_t width,
                   int64_t parts, int64_t part) {
  int64_t row = parts * g * r * width + 3;
  return {{s * row, r * width, width, row}, part * g * r * width, b * s * row};
}

/// A case, its inputs and its descriptor, all from one seed.
struct Problem {
  Case c;
  AttentionValues in;
  dist_attention_desc desc = {};
  Place q, k, v, o;
  std::vector<int64_t> biasSizes;

  Problem(const Case &c, int seed);
};

inline void setPlaces(Problem &p) {
  const Case &c = p.c;
  if (c.layout == Layout::Fused) {
    // One buffer of q, k and v needs equal heads, lengths and widths.
    p.q = fused(c.b, c.g, 1, c.s, c.d, 3, 0);
    p.k = fused(c.b, c.g, 1, c.t, c.d, 3, 1);
    p.v = fused(c.b, c.g, 1, c.t, c.e, 3, 2);
    p.o = fused(c.b, c.g, 1, c.s, c.e, 1, 0);
  } else {
    p.q = contiguous(c.b, c.g, c.r, c.s, c.d);
    p.k = contiguous(c.b, c.g, 1, c.t, c.d);
    p.v = contiguous(c.b, c.g, 1, c.t, c.e);
    p.o = contiguous(c.b, c.g, c.r, c.s, c.e);
  }
  auto set = [](int64_t *to, const Place &place, bool heads) {
    *to++ = place.strides[0], *to++ = place.strides[1];
    if (heads)
      *to++ = place.strides[2];
    *to = place.strides[3];
  };
  set(p.desc.q, p.q, true);
  set(p.desc.k, p.k, false);
  set(p.desc.v, p.v, false);
  set(p.desc.o, p.o, true);
}

/// Contiguous in the dimensions that the bias has. Returns its size.
inline int64_t setBias(dist_attention_desc &desc, const Case &c) {
  const int64_t sizes[] = {c.b, c.g, c.r, c.s, c.t};
  int64_t elements = 1;
  for (int i = 4; i >= 0; --i) {
    desc.bias[i] = c.bias[i] ? elements : 0;
    elements *= c.bias[i] ? sizes[i] : 1;
  }
  return elements;
}

inline Problem::Problem(const Case &c, int seed) : c(c) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  // Rounded to f32, so that both types start from the same numbers.
  auto random = [&](int64_t count) {
    Values values(count);
    for (double &value : values)
      value = normal(engine);
    return values;
  };
  int64_t heads = c.b * c.g * c.r;
  in.q = random(heads * c.s * c.d);
  in.k = random(c.b * c.g * c.t * c.d);
  in.v = random(c.b * c.g * c.t * c.e);
  in.gradO = random(heads * c.s * c.e);
  if (hasBias(c))
    in.bias = random(setBias(desc, c));
  if (c.segments)
    for (int64_t i = 0; i < c.b * c.t; ++i)
      in.segmentIds.push_back(i % c.t * 3 / c.t);
  if (c.dropout > 0)
    in.key = {int32_t(engine()), int32_t(engine())};
  desc.causal = c.causal;
  desc.b = c.b, desc.g = c.g, desc.r = c.r, desc.s = c.s, desc.t = c.t;
  desc.d = c.d, desc.e = c.e;
  desc.window = c.window;
  desc.scale = 1 / std::sqrt(double(std::max<int64_t>(c.d, 1)));
  desc.softcap = c.softcap, desc.dropout = c.dropout;
  const int64_t global[] = {c.b, c.g, c.r, c.s, c.t};
  std::copy(global, global + 5, desc.global);
  setPlaces(*this);
}

/// Calls `body(index in the contiguous tensor, index at `place`)`.
template <typename Body>
void forEach(const Case &c, const Place &place, bool heads, int64_t rows,
             int64_t width, Body body) {
  int64_t at = 0, r = heads ? c.r : 1;
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t g = 0; g < c.g; ++g)
      for (int64_t h = 0; h < r; ++h)
        for (int64_t s = 0; s < rows; ++s)
          for (int64_t p = 0; p < width; ++p)
            body(at++, place.start + b * place.strides[0] +
                           g * place.strides[1] + h * place.strides[2] +
                           s * place.strides[3] + p);
}

/// Runs kernels on a problem; `T` is the element type.
template <typename T>
class Runner {
public:
  Runner(const Problem &problem, const Kernels &kernels, dist_rank rank = {})
      : p(problem), c(problem.c), desc(problem.desc), kernels(kernels),
        rank(rank) {
    desc.dtype = sizeof(T) == 8 ? DIST_F64 : DIST_F32;
  }

  AttentionResults run() {
    bool fused = c.layout == Layout::Fused;
    std::vector<T> qkv(p.q.size), keys(p.k.size), values(p.v.size);
    std::vector<T> &k = fused ? qkv : keys, &v = fused ? qkv : values;
    scatter(p.in.q, qkv, p.q, true, c.s, c.d);
    scatter(p.in.k, k, p.k, false, c.t, c.d);
    scatter(p.in.v, v, p.v, false, c.t, c.e);
    std::vector<T> bias(p.in.bias.begin(), p.in.bias.end());
    AttentionInputs in = {&desc,
                          qkv.data() + p.q.start,
                          k.data() + p.k.start,
                          v.data() + p.v.start,
                          bias.empty() ? nullptr : bias.data(),
                          pointer(p.in.segmentIds),
                          pointer(p.in.key)};
    poisonScratch();
    std::vector<T> o(p.o.size), lse(c.b * c.g * c.r * c.s, T(7));
    attentionUsing(kernels, &rank, {in, o.data(), lse.data()});
    AttentionResults out;
    out.o = gather(o, p.o, true, c.s, c.e);
    out.lse = Values(lse.begin(), lse.end());
    differentiate(in, o, lse, out);
    return out;
  }

private:
  /// What a kernel reads before it writes it is NaN.
  static void poisonScratch() {
    constexpr int64_t bytes = 1 << 22;
    std::memset(threadScratch(bytes), 0xff, bytes);
  }

  static const int32_t *pointer(const std::vector<int32_t> &values) {
    return values.empty() ? nullptr : values.data();
  }

  void differentiate(const AttentionInputs &in, const std::vector<T> &o,
                     const std::vector<T> &lse, AttentionResults &out) {
    bool fused = c.layout == Layout::Fused;
    std::vector<T> gradO(p.o.size);
    scatter(p.in.gradO, gradO, p.o, true, c.s, c.e);
    dist_attention_grad_desc grad = {};
    grad.forward = desc;
    std::copy(desc.o, desc.o + 4, grad.grad_o);
    std::copy(desc.q, desc.q + 4, grad.dq);
    std::copy(desc.k, desc.k + 3, grad.dk);
    std::copy(desc.v, desc.v + 3, grad.dv);
    poisonScratch();
    // What the kernel does not overwrite shows.
    std::vector<T> dqkv(p.q.size, T(7)), keys(p.k.size, T(7)),
        values(p.v.size, T(7)), dbias(p.in.bias.size(), T(7));
    std::vector<T> &dk = fused ? dqkv : keys, &dv = fused ? dqkv : values;
    attentionGradUsing(kernels, &rank,
                       {in,
                        &grad,
                        o.data(),
                        lse.data(),
                        gradO.data(),
                        dqkv.data() + p.q.start,
                        dk.data() + p.k.start,
                        dv.data() + p.v.start,
                        dbias.empty() ? nullptr : dbias.data(),
                        {}});
    out.dq = gather(dqkv, p.q, true, c.s, c.d);
    out.dk = gather(dk, p.k, false, c.t, c.d);
    out.dv = gather(dv, p.v, false, c.t, c.e);
    out.dbias = Values(dbias.begin(), dbias.end());
  }

  void scatter(const Values &from, std::vector<T> &to, const Place &place,
               bool heads, int64_t rows, int64_t width) {
    forEach(c, place, heads, rows, width,
            [&](int64_t at, int64_t there) { to[there] = T(from[at]); });
  }

  Values gather(const std::vector<T> &from, const Place &place, bool heads,
                int64_t rows, int64_t width) {
    Values to;
    forEach(c, place, heads, rows, width,
            [&](int64_t, int64_t there) { to.push_back(from[there]); });
    return to;
  }

  const Problem &p;
  const Case &c;
  dist_attention_desc desc;
  const Kernels &kernels;
  dist_rank rank;
};

} // namespace dist::test

#endif // DIST_RUNTIME_TEST_HOST_ATTENTIONPROBLEM_H
