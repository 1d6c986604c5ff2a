//===- AttentionTest.cpp - Attention against its definition ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"
#include "TestKernels.h"

#include "gtest/gtest.h"

#include <random>
#include <sstream>

using namespace dist;
using namespace dist::test;

namespace {

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
  for (const Kernels *kernels : testableKernels()) {
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
  // A head of 96 positions of width 8 takes 768; the shard's part in the whole.
  const Place queries = {{4 * 768, 2 * 768, 768, 8}, 11 * 768 + 50 * 8, 0};
  const Place keys = {{2 * 768, 768, 0, 8}, 5 * 768, 0};
  auto take = [&](const Values &from, const Place &place, bool heads) {
    Values to;
    forEach(part, place, heads, heads ? 46 : 96, 8,
            [&](int64_t, int64_t there) { to.push_back(from[there]); });
    return to;
  };
  shard.in.q = take(all.in.q, queries, true);
  shard.in.gradO = take(all.in.gradO, queries, true);
  shard.in.k = take(all.in.k, keys, false);
  shard.in.v = take(all.in.v, keys, false);
  AttentionResults got = Runner<double>(shard, hostKernels()).run();
  EXPECT_LE(errorOf(got.o, take(expected.o, queries, true)), kBoundF64);
  EXPECT_LE(errorOf(got.dq, take(expected.dq, queries, true)), kBoundF64);
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
