//===- AttentionTest.cpp - Attention against its definition ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionReference.h"
#include "TestPool.h"
#include "host/Kernels.h"

#include "gtest/gtest.h"

#include <random>

using namespace dist;
using namespace dist::test;

namespace {

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

std::ostream &operator<<(std::ostream &os, const Case &c) {
  os << "b g r s t d e " << c.b << " " << c.g << " " << c.r << " " << c.s << " "
     << c.t << " " << c.d << " " << c.e << (c.causal ? " causal" : "")
     << (c.segments ? " segments" : "") << " window " << c.window << " softcap "
     << c.softcap << " dropout " << c.dropout << " bias ";
  for (bool has : c.bias)
    os << has;
  return os << (c.layout == Layout::Fused ? " fused" : "");
}

bool hasBias(const Case &c) {
  return std::find(c.bias.begin(), c.bias.end(), true) != c.bias.end();
}

/// Strides and sizes of one tensor of `b g r s width` (or `b g t width`).
struct Place {
  std::array<int64_t, 4> strides;
  int64_t start, size;
};

Place contiguous(int64_t b, int64_t g, int64_t r, int64_t s, int64_t width) {
  return {{g * r * s * width, r * s * width, s * width, width},
          0,
          b * g * r * s * width};
}

/// Head (g, r) of part `part` of `parts`, each `heads` heads wide, in rows of
/// `parts * heads * width` and some padding.
Place fused(int64_t b, int64_t g, int64_t r, int64_t s, int64_t width,
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

void setPlaces(Problem &p) {
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
int64_t setBias(dist_attention_desc &desc, const Case &c) {
  const int64_t sizes[] = {c.b, c.g, c.r, c.s, c.t};
  int64_t elements = 1;
  for (int i = 4; i >= 0; --i) {
    desc.bias[i] = c.bias[i] ? elements : 0;
    elements *= c.bias[i] ? sizes[i] : 1;
  }
  return elements;
}

Problem::Problem(const Case &c, int seed) : c(c) {
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
    std::vector<T> o(p.o.size), lse(c.b * c.g * c.r * c.s, T(7));
    attentionUsing(kernels, &rank, {in, o.data(), lse.data()});
    AttentionResults out;
    out.o = gather(o, p.o, true, c.s, c.e);
    out.lse = Values(lse.begin(), lse.end());
    differentiate(in, o, lse, out);
    return out;
  }

private:
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

/// max|a - b| / max(max|b|, least); infinite where one is not finite and the
/// other differs.
double errorOf(const Values &a, const Values &b, double least = 1e-2) {
  double error = 0, most = least;
  for (size_t i = 0; i < b.size(); ++i) {
    if (a[i] == b[i])
      continue;
    double difference = std::abs(a[i] - b[i]);
    error = difference < INFINITY ? std::max(error, difference) : INFINITY;
    most = std::max(most, std::abs(b[i]));
  }
  return error / most;
}

/// A score near 4 carries a rounding of 2^-22, an exponential of it the same
/// relative one, twice in the backward pass; sums over keys and rows, of parts
/// that cancel, leave some such units of the largest entry.
constexpr double kBoundF32 = 2e-6, kBoundF64 = 1e-12;

/// A gradient of scores is a difference that may cancel (to 0 with one key to
/// attend to, or summed over the keys), so the errors of dq, dk and dbias are
/// measured by what does not cancel: entries of dv times the root of the e
/// products in each of the two sums, and for dbias the entries summed.
void expectEqual(const Case &c, const AttentionResults &a,
                 const AttentionResults &b, double bound) {
  double least = 1e-2, summed = 1;
  for (double value : b.dv)
    least = std::max(least, std::abs(value));
  least *= std::max(1.0, std::sqrt(double(c.e)) / 2);
  const int64_t sizes[] = {c.b, c.g, c.r, c.s, c.t};
  for (int i = 0; i < 5; ++i)
    summed *= c.bias[i] ? 1 : std::max<int64_t>(1, sizes[i]);
  EXPECT_LE(errorOf(a.o, b.o), bound);
  EXPECT_LE(errorOf(a.lse, b.lse), bound);
  EXPECT_LE(errorOf(a.dq, b.dq, least), bound);
  EXPECT_LE(errorOf(a.dk, b.dk, least), bound);
  EXPECT_LE(errorOf(a.dv, b.dv), bound);
  EXPECT_LE(errorOf(a.dbias, b.dbias, std::max(1e-2 * summed, least)), bound);
}

void checkCase(const Case &c, int seed) {
  Problem problem(c, seed);
  AttentionResults expected =
      AttentionReference(problem.desc, problem.in).run();
  for (const Kernels *kernels :
       {&kBaselineKernels, &kAvx2Kernels, &kAvx512Kernels}) {
    if (!isSupported(*kernels))
      continue;
    std::ostringstream where;
    where << c << " seed " << seed << " " << kernels->name;
    SCOPED_TRACE(where.str());
    expectEqual(c, Runner<float>(problem, *kernels).run(), expected, kBoundF32);
    expectEqual(c, Runner<double>(problem, *kernels).run(), expected,
                kBoundF64);
  }
}

Case sized(int64_t b, int64_t g, int64_t r, int64_t s, int64_t t, int64_t d,
           int64_t e) {
  Case c;
  c.b = b, c.g = g, c.r = r, c.s = s, c.t = t, c.d = d, c.e = e;
  return c;
}

TEST(AttentionTest, philoxOfTheReferenceHasThePublishedAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(AttentionTest, everySize) {
  for (auto [s, t] : {std::array<int64_t, 2>{1, 1},
                      {5, 5},
                      {64, 64},
                      {65, 65},
                      {130, 130},
                      {1, 200},
                      {200, 1},
                      {70, 129},
                      {129, 70}})
    for (bool causal : {false, true}) {
      Case c = sized(2, 1, 1, s, t, 8, 8);
      c.causal = causal;
      checkCase(c, 1);
    }
  for (auto [d, e] : {std::array<int64_t, 2>{1, 1},
                      {3, 5},
                      {16, 17},
                      {33, 64},
                      {64, 32},
                      {100, 7},
                      {256, 256}})
    checkCase(sized(1, 2, 1, 30, 40, d, e), 2);
}

TEST(AttentionTest, nothingToDo) {
  for (Case c : {sized(0, 1, 1, 4, 4, 4, 4), sized(1, 0, 1, 4, 4, 4, 4),
                 sized(1, 1, 1, 0, 4, 4, 4), sized(1, 1, 1, 4, 0, 4, 4),
                 sized(1, 1, 1, 4, 4, 0, 4), sized(1, 1, 1, 4, 4, 4, 0)})
    checkCase(c, 1);
}

TEST(AttentionTest, groupedHeads) {
  Case c = sized(2, 2, 3, 70, 70, 16, 16);
  checkCase(c, 1);
  c.causal = true;
  checkCase(c, 2);
}

TEST(AttentionTest, fusedBuffer) {
  Case c = sized(2, 3, 1, 70, 70, 16, 16);
  c.layout = Layout::Fused;
  c.causal = true;
  checkCase(c, 1);
}

TEST(AttentionTest, everyCombinationOfOptions) {
  for (int bits = 0; bits < 64; ++bits) {
    Case c = sized(2, 1, 2, 75, 75, 12, 20);
    c.causal = bits & 1;
    c.window = bits & 2 ? 9 : 0;
    c.softcap = bits & 4 ? 1.5 : 0;
    if (bits & 8)
      c.bias = {true, true, true, true, true};
    c.segments = bits & 16;
    c.dropout = bits & 32 ? 0.3 : 0;
    checkCase(c, bits);
  }
}

TEST(AttentionTest, everyBroadcastOfTheBias) {
  for (int bits = 1; bits < 32; ++bits) {
    Case c = sized(2, 2, 2, 67, 70, 5, 6);
    for (int i = 0; i < 5; ++i)
      c.bias[i] = bits >> i & 1;
    checkCase(c, bits);
  }
}

TEST(AttentionTest, randomCases) {
  std::mt19937 engine(5);
  auto pick = [&](std::initializer_list<int64_t> of) {
    return of.begin()[engine() % of.size()];
  };
  int cases = std::getenv("DIST_TEST_LONG") ? 2000 : 60;
  for (int i = 0; i < cases; ++i) {
    Case c = sized(pick({1, 2}), pick({1, 2, 3}), pick({1, 2, 4}),
                   pick({1, 7, 64, 100, 150}), pick({1, 7, 64, 100, 150}),
                   pick({1, 8, 20, 64}), pick({1, 8, 20, 64}));
    c.causal = engine() % 2;
    c.window = pick({0, 0, 1, 20, 64, 1000});
    c.softcap = pick({0, 0, 1, 30});
    c.dropout = pick({0, 0, 1, 5}) / 10.0;
    for (bool &has : c.bias)
      has = engine() % 3 == 0;
    if (engine() % 4 == 0) {
      c.segments = true;
      c.s = c.t;
    }
    checkCase(c, i);
  }
}

TEST(AttentionTest, rowsThatAttendToNothing) {
  // Past the last key of a window; and a bias that hides whole rows.
  Case c = sized(1, 1, 2, 150, 70, 8, 8);
  c.causal = true;
  c.window = 5;
  checkCase(c, 1);
  Case hidden = sized(1, 1, 1, 80, 80, 8, 8);
  hidden.bias = {false, false, false, true, true};
  Problem problem(hidden, 2);
  std::fill(problem.in.bias.begin() + 3 * 80, problem.in.bias.begin() + 5 * 80,
            -INFINITY);
  AttentionResults expected =
      AttentionReference(problem.desc, problem.in).run();
  EXPECT_EQ(expected.lse[3], -INFINITY);
  expectEqual(hidden, Runner<float>(problem, hostKernels()).run(), expected,
              kBoundF32);
}

TEST(AttentionTest, shardIsAPartOfTheWhole) {
  Case whole = sized(4, 2, 2, 96, 96, 8, 8);
  whole.causal = true;
  whole.window = 40;
  whole.segments = true;
  whole.dropout = 0.25;
  Problem all(whole, 1);
  AttentionResults expected = AttentionReference(all.desc, all.in).run();
  // The shard: b from 2, g 1, r 1, s from 50.
  Case part = sized(2, 1, 1, 46, 96, 8, 8);
  Problem shard(part, 1);
  const int64_t offset[] = {2, 1, 1, 50};
  shard.desc = all.desc;
  shard.desc.b = 2, shard.desc.g = shard.desc.r = 1, shard.desc.s = 46;
  std::copy(offset, offset + 4, shard.desc.offset);
  setPlaces(shard);
  shard.in.key = all.in.key;
  shard.in.segmentIds.assign(all.in.segmentIds.begin() + 2 * 96,
                             all.in.segmentIds.end());
  forEach(part, {{4 * 768, 2 * 768, 768, 8}, 8 * 768 + 2 * 768 + 768 + 400, 0},
          true, 46, 8,
          [&](int64_t to, int64_t from) { shard.in.q[to] = all.in.q[from]; });
  auto takeKeys = [&](Values &to, const Values &from) {
    forEach(part, {{2 * 768, 768, 0, 8}, 4 * 768 + 768, 0}, false, 96, 8,
            [&](int64_t at, int64_t there) { to[at] = from[there]; });
  };
  takeKeys(shard.in.k, all.in.k);
  takeKeys(shard.in.v, all.in.v);
  Values wanted;
  forEach(part, {{4 * 768, 2 * 768, 768, 8}, 8 * 768 + 2 * 768 + 768 + 400, 0},
          true, 46, 8,
          [&](int64_t, int64_t from) { wanted.push_back(expected.o[from]); });
  AttentionResults got = Runner<double>(shard, hostKernels()).run();
  EXPECT_LE(errorOf(got.o, wanted), kBoundF64);
}

/// The largest difference of the reference's gradient of `x` from central
/// differences of sum(o * gradO), as errorOf.
double differenceError(Problem &problem, Values &x, const Values &gradient) {
  auto loss = [&] {
    AttentionResults out = AttentionReference(problem.desc, problem.in).run();
    double sum = 0;
    for (size_t i = 0; i < out.o.size(); ++i)
      sum += out.o[i] * problem.in.gradO[i];
    return sum;
  };
  Values slopes;
  for (double &value : x) {
    double before = value, step = 1e-5;
    value = before + step;
    double above = loss();
    value = before - step;
    slopes.push_back((above - loss()) / (2 * step));
    value = before;
  }
  return errorOf(slopes, gradient);
}

TEST(AttentionTest, referenceAgreesWithCentralDifferences) {
  Case c = sized(2, 1, 2, 6, 6, 3, 2);
  c.causal = true;
  c.window = 4;
  c.softcap = 2;
  c.segments = true;
  c.dropout = 0.2;
  c.bias = {false, true, true, false, true};
  Problem problem(c, 1);
  AttentionResults out = AttentionReference(problem.desc, problem.in).run();
  AttentionValues &in = problem.in;
  EXPECT_LE(differenceError(problem, in.q, out.dq), 1e-8);
  EXPECT_LE(differenceError(problem, in.k, out.dk), 1e-8);
  EXPECT_LE(differenceError(problem, in.v, out.dv), 1e-8);
  EXPECT_LE(differenceError(problem, in.bias, out.dbias), 1e-8);
}

TEST(AttentionTest, bitsForAnyNumberOfThreads) {
  Case c = sized(3, 2, 2, 100, 100, 16, 24);
  c.causal = true;
  c.dropout = 0.1;
  for (std::array<bool, 5> bias : {std::array<bool, 5>{},
                                   {true, true, true, true, true},
                                   {false, false, true, true, true},
                                   {true, false, false, false, true}}) {
    c.bias = bias;
    Problem problem(c, 1);
    AttentionResults one = Runner<float>(problem, hostKernels()).run();
    for (int threads : {1, 2, 3}) {
      AttentionResults other =
          Runner<float>(problem, hostKernels(), {threads, true}).run();
      EXPECT_EQ(one.o, other.o);
      EXPECT_EQ(one.lse, other.lse);
      EXPECT_EQ(one.dq, other.dq);
      EXPECT_EQ(one.dk, other.dk);
      EXPECT_EQ(one.dv, other.dv);
      EXPECT_EQ(one.dbias, other.dbias);
    }
  }
}

TEST(AttentionTest, largeScoresAndNotANumber) {
  // Scores in the thousands do not overflow; a NaN comes out where it went in.
  Case c = sized(1, 1, 1, 70, 70, 8, 8);
  Problem problem(c, 1);
  problem.desc.scale = 1000;
  AttentionResults got = Runner<float>(problem, hostKernels()).run();
  for (double value : got.o)
    ASSERT_TRUE(std::isfinite(value));
  problem.in.q[0] = NAN;
  got = Runner<float>(problem, hostKernels()).run();
  EXPECT_TRUE(std::isnan(got.o[0]));
  EXPECT_TRUE(std::isfinite(got.o[8]));
}

} // namespace
