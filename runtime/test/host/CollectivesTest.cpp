//===- CollectivesTest.cpp ------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Landing.h"
#include "host/HostBackend.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace dist;

/// A manifest with a mesh and a communicator for each list of axes.
static Manifest makeManifest(std::vector<MeshAxis> axes,
                             std::vector<std::vector<std::string>> groups) {
  Manifest manifest;
  manifest.mesh = std::move(*Mesh::create(std::move(axes)));
  for (const std::vector<std::string> &texts : groups) {
    Communicator communicator;
    communicator.parts = std::move(*manifest.mesh.parseAxes(texts));
    for (const AxisPart &part : communicator.parts)
      communicator.size *= part.size;
    for (const std::string &text : texts)
      communicator.axes += (communicator.axes.empty() ? "" : ", ") + text;
    manifest.communicators.push_back(communicator);
  }
  return manifest;
}

/// Calls `body(rank)` on every rank; what leaves, lands here.
static void runOnRanks(Backend &backend,
                       const std::function<void(dist_rank &)> &body) {
  EXPECT_TRUE(backend.runOnRanks(
      [](void *context, dist_rank &rank) {
        land([&] {
          (*static_cast<const std::function<void(dist_rank &)> *>(context))(
              rank);
        });
      },
      const_cast<std::function<void(dist_rank &)> *>(&body)));
}

namespace {
/// The meshes and communicators that every collective is tried on.
struct Case {
  std::vector<MeshAxis> axes;
  std::vector<std::vector<std::string>> groups;
};
} // namespace

static const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
      {{}, {{}}},
      {{{"a", 2}}, {{"a"}}},
      {{{"a", 3}}, {{"a"}}},
      {{{"a", 4}}, {{"a"}, {"a:(1)2"}, {"a:(2)2"}, {}}},
      {{{"a", 2}, {"b", 2}}, {{"a"}, {"b"}, {"a", "b"}, {"b", "a"}}},
      {{{"a", 2}, {"b", 3}}, {{"a"}, {"b"}, {"b", "a"}}},
  };
  return all;
}

/// Calls `body(rank, comm, group, place)` on every rank for each communicator
/// of each case, with pools of each of these sizes.
static void forEachGroup(
    const std::function<void(dist_rank &, int32_t, const std::vector<int32_t> &,
                             int32_t)> &body,
    std::vector<int64_t> poolSizes = {1, 2}) {
  for (const Case &each : cases())
    for (int64_t threads : poolSizes) {
      Manifest manifest = makeManifest(each.axes, each.groups);
      HostBackend backend(manifest, {.threads = threads});
      ASSERT_FALSE(bool(backend.start()));
      runOnRanks(backend, [&](dist_rank &rank) {
        for (size_t comm = 0; comm < each.groups.size(); ++comm) {
          std::vector<int32_t> group = manifest.mesh.getGroup(
              rank.index, manifest.communicators[comm].parts);
          auto place = std::find(group.begin(), group.end(), rank.index);
          body(rank, static_cast<int32_t>(comm), group,
               static_cast<int32_t>(place - group.begin()));
        }
      });
      EXPECT_FALSE(backend.hasFailed()) << backend.getFailureMessage();
    }
}

/// What rank `rank` brings at element `i`: halves of small integers, so that
/// every order of summing gives the same in every type.
static double valueOf(int32_t rank, int64_t i) {
  return static_cast<double>((rank * 31 + i * 7) % 23 - 11) / 2;
}

template <typename T>
static T make(double value) {
  if constexpr (sizeof(T) == 2)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <typename T>
static std::vector<T> operandOf(int32_t rank, int64_t count) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = make<T>(valueOf(rank, i));
  return values;
}

template <typename T>
static double read(const T &value) {
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

/// The reduction of element `i` over `group`, in the order of its members.
template <typename T>
static double reduceAt(const std::vector<int32_t> &group, dist_monoid monoid,
                       int64_t i) {
  double result = read(make<T>(valueOf(group[0], i)));
  for (size_t k = 1; k < group.size(); ++k) {
    double next = read(make<T>(valueOf(group[k], i)));
    result = monoid == DIST_SUM   ? result + next
             : monoid == DIST_MAX ? std::max(result, next)
                                  : std::min(result, next);
  }
  return result;
}

template <typename T>
static void checkReductions(dist_dtype dtype) {
  forEachGroup(
      [=](dist_rank &rank, int32_t comm, const std::vector<int32_t> &group,
          int32_t place) {
        for (dist_monoid monoid : {DIST_SUM, DIST_MAX, DIST_MIN})
          for (int64_t count : {0, 5, 130, 40000}) {
            if (monoid != DIST_SUM && count != 130)
              continue; // What the sizes are for is the same code.
            std::vector<T> first = operandOf<T>(rank.index, count);
            std::vector<T> second = operandOf<T>(rank.index, 3);
            void *buffers[] = {first.data(), second.data()};
            int64_t counts[] = {count, 3};
            dist_all_reduce(&rank, comm, monoid, dtype, 2, buffers, counts,
                            "ar");
            for (int64_t i = 0; i < count; ++i)
              ASSERT_EQ(read(first[i]), reduceAt<T>(group, monoid, i));
            for (int64_t i = 0; i < 3; ++i)
              ASSERT_EQ(read(second[i]), reduceAt<T>(group, monoid, i));

            auto size = static_cast<int64_t>(group.size());
            std::vector<T> whole = operandOf<T>(rank.index, count * size);
            std::vector<T> block(count);
            dist_reduce_scatter(&rank, comm, monoid, dtype, whole.data(),
                                block.data(), count, "rs");
            for (int64_t i = 0; i < count; ++i)
              ASSERT_EQ(read(block[i]),
                        reduceAt<T>(group, monoid, place * count + i));
          }
      },
      {dtype == DIST_F32 ? 1 : 2});
}

TEST(Collectives, ReduceF64) { checkReductions<double>(DIST_F64); }
TEST(Collectives, ReduceF32) { checkReductions<float>(DIST_F32); }
TEST(Collectives, ReduceBF16) { checkReductions<BFloat16>(DIST_BF16); }
TEST(Collectives, ReduceF16) { checkReductions<Float16>(DIST_F16); }
TEST(Collectives, ReduceI64) { checkReductions<int64_t>(DIST_I64); }
TEST(Collectives, ReduceI32) { checkReductions<int32_t>(DIST_I32); }

TEST(Collectives, GatherAndExchange) {
  forEachGroup([](dist_rank &rank, int32_t comm,
                  const std::vector<int32_t> &group, int32_t place) {
    auto size = static_cast<int64_t>(group.size());
    for (int64_t count : {0, 1, 5, 100000}) {
      std::vector<float> operand = operandOf<float>(rank.index, count * size);
      std::vector<float> result(count * size, -1);
      dist_all_gather(&rank, comm, DIST_F32, operand.data(), result.data(),
                      count, "ag");
      for (int64_t i = 0; i < count * size; ++i)
        ASSERT_EQ(result[i], valueOf(group[i / count], i % count));
      dist_all_to_all(&rank, comm, DIST_F32, operand.data(), result.data(),
                      count, "a2a");
      for (int64_t i = 0; i < count * size; ++i)
        ASSERT_EQ(result[i],
                  valueOf(group[i / count], place * count + i % count));
    }
  });
}

// The operand may already lie in its place of the result.
TEST(Collectives, GatherInPlace) {
  forEachGroup([](dist_rank &rank, int32_t comm,
                  const std::vector<int32_t> &group, int32_t place) {
    std::vector<float> result(9 * group.size());
    for (int64_t i = 0; i < 9; ++i)
      result[place * 9 + i] = valueOf(rank.index, i);
    dist_all_gather(&rank, comm, DIST_F32, &result[place * 9], result.data(), 9,
                    "ag");
    for (size_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(result[i], valueOf(group[i / 9], i % 9));
  });
}

TEST(Collectives, PermuteAndBroadcast) {
  forEachGroup([](dist_rank &rank, int32_t comm,
                  const std::vector<int32_t> &group, int32_t place) {
    auto size = static_cast<int32_t>(group.size());
    std::vector<int32_t> pairs; // A chain: nobody sends to member 0.
    for (int32_t i = 0; i + 1 < size; ++i)
      pairs.insert(pairs.end(), {i, i + 1});
    std::vector<double> operand = operandOf<double>(rank.index, 7);
    std::vector<double> result(7, -1);
    dist_permute(&rank, comm, DIST_F64, operand.data(), result.data(), 7,
                 size - 1, pairs.data(), "p");
    for (int64_t i = 0; i < 7; ++i)
      ASSERT_EQ(result[i], place ? valueOf(group[place - 1], i) : 0);
    for (int32_t root = 0; root < size; ++root) {
      std::vector<double> buffer = operandOf<double>(rank.index, 7);
      dist_broadcast(&rank, comm, DIST_F64, buffer.data(), 7, root, "b");
      for (int64_t i = 0; i < 7; ++i)
        ASSERT_EQ(buffer[i], valueOf(group[root], i));
    }
  });
}

// Values whose sum depends on the order: every member, every number of threads
// and every repetition has the bits of the members' order.
TEST(Collectives, SameBits) {
  constexpr int64_t kCount = 30011;
  std::vector<std::vector<float>> operands(4, std::vector<float>(kCount));
  std::mt19937 random(7);
  for (std::vector<float> &operand : operands)
    for (float &value : operand)
      value = std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random),
                         static_cast<int>(random() % 40));
  std::vector<float> expected = operands[0];
  for (int rank = 1; rank < 4; ++rank)
    for (int64_t i = 0; i < kCount; ++i)
      expected[i] += operands[rank][i];
  Manifest manifest = makeManifest({{"a", 4}}, {{"a"}});
  for (int64_t threads : {1, 3}) {
    HostBackend backend(manifest, {.threads = threads});
    ASSERT_FALSE(bool(backend.start()));
    runOnRanks(backend, [&](dist_rank &rank) {
      for (int repetition = 0; repetition < 10; ++repetition) {
        std::vector<float> values = operands[rank.index];
        void *buffer = values.data();
        dist_all_reduce(&rank, 0, DIST_SUM, DIST_F32, 1, &buffer, &kCount, "");
        ASSERT_EQ(std::memcmp(values.data(), expected.data(), kCount * 4), 0);
      }
    });
  }
}

// A sum of many bf16 is rounded once, not at every member.
TEST(Collectives, NarrowTypesReduceWide) {
  Manifest manifest = makeManifest({{"a", 4}}, {{"a"}});
  HostBackend backend(manifest, {.threads = 1});
  EXPECT_FALSE(bool(backend.start()));
  runOnRanks(backend, [](dist_rank &rank) {
    // 256 + 1 + 1 + 1: each step alone would round back to 256.
    BFloat16 value(rank.index == 0 ? 256.0f : 1.0f);
    void *buffer = &value;
    int64_t count = 1;
    dist_all_reduce(&rank, 0, DIST_SUM, DIST_BF16, 1, &buffer, &count, "");
    ASSERT_EQ(static_cast<float>(value), 260.0f);
  });
}

TEST(Collectives, MaxKeepsNaN) {
  Manifest manifest = makeManifest({{"a", 3}}, {{"a"}});
  HostBackend backend(manifest, {.threads = 1});
  EXPECT_FALSE(bool(backend.start()));
  for (int32_t bad = 0; bad < 3; ++bad)
    runOnRanks(backend, [bad](dist_rank &rank) {
      float values[] = {rank.index == bad ? NAN : 1.0f, 0.0f};
      void *buffer = values;
      int64_t count = 2;
      dist_all_reduce(&rank, 0, DIST_MAX, DIST_F32, 1, &buffer, &count, "");
      ASSERT_TRUE(std::isnan(values[0]));
      ASSERT_EQ(values[1], 0);
    });
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

static void reduceOne(dist_rank &rank, int32_t comm, const char *op) {
  float value = 1;
  void *buffer = &value;
  int64_t count = 1;
  dist_all_reduce(&rank, comm, DIST_SUM, DIST_F32, 1, &buffer, &count, op);
}

/// The message of a run of `body` on `ranks` ranks.
static std::string failureOf(int64_t ranks,
                             const std::function<void(dist_rank &)> &body,
                             int64_t timeoutMs = 60000) {
  Manifest manifest = makeManifest({{"a", ranks}}, {{"a"}});
  HostBackend backend(
      manifest,
      {.threads = 1, .timeout = std::chrono::milliseconds(timeoutMs)});
  EXPECT_FALSE(bool(backend.start()));
  runOnRanks(backend, [&](dist_rank &rank) {
    rank.step = 5;
    body(rank);
    ADD_FAILURE() << "rank " << rank.index << " came through";
  });
  EXPECT_TRUE(backend.hasFailed());
  return backend.getFailureMessage();
}

TEST(Failures, DifferentCallsNameBoth) {
  EXPECT_EQ(failureOf(3,
                      [](dist_rank &rank) {
                        float in = 0, out[3];
                        if (rank.index == 2)
                          dist_all_gather(&rank, 0, DIST_F32, &in, out, 1,
                                          "gather");
                        reduceOne(rank, 0, "mlp");
                      }),
            "step 5: rank 0 calls all_reduce sum 'mlp' of 1 f32 over (a), "
            "rank 2 calls all_gather 'gather' of 1 f32");
}

TEST(Failures, DifferentCountsDiffer) {
  std::string message = failureOf(2, [](dist_rank &rank) {
    float in[4] = {}, out[4];
    dist_all_to_all(&rank, 0, DIST_F32, in, out, rank.index + 1, "x");
  });
  EXPECT_NE(message.find("of 1 f32"), std::string::npos) << message;
  EXPECT_NE(message.find("of 2 f32"), std::string::npos) << message;
}

TEST(Failures, DifferentOpsDiffer) {
  std::string message = failureOf(
      2, [](dist_rank &rank) { reduceOne(rank, 0, rank.index ? "wq" : "wk"); });
  EXPECT_NE(message.find("'wq'"), std::string::npos) << message;
}

// A rank that fails wakes those that wait, wherever they are.
TEST(Failures, WakesTheOthers) {
  EXPECT_EQ(failureOf(4,
                      [](dist_rank &rank) {
                        if (rank.index == 3) {
                          std::this_thread::sleep_for(
                              std::chrono::milliseconds(20));
                          dist_index_error(&rank, "tokens", 17, 300, 256);
                        }
                        while (true)
                          reduceOne(rank, 0, "x");
                      }),
            "step 5: 'tokens' is 300 at row 17 of rank 3, expected 0 to 255");
}

// Failing while the others are anywhere in a collective never hangs.
TEST(Failures, NeverHangs) {
  for (int round = 0; round < 60; ++round)
    failureOf(3, [round](dist_rank &rank) {
      for (int i = 0; rank.index != 1 || i < round % 10; ++i)
        reduceOne(rank, 0, "x");
      dist_index_error(&rank, "tokens", 0, -1, 8);
    });
}

TEST(Failures, WatchdogNamesWhoWaits) {
  std::string message = failureOf(
      3,
      [](dist_rank &rank) {
        if (rank.index == 1) {
          while (!rank.backend.hasFailed())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          leave();
        }
        reduceOne(rank, 0, "mlp");
      },
      2000);
  EXPECT_NE(
      message.find("in all_reduce sum 'mlp' of 1 f32 over (a) for rank 1"),
      std::string::npos)
      << message;
}

TEST(Failures, FromATaskOnThePool) {
  Manifest manifest = makeManifest({{"a", 2}}, {{"a"}});
  HostBackend backend(manifest, {.threads = 3});
  EXPECT_FALSE(bool(backend.start()));
  runOnRanks(backend, [](dist_rank &rank) {
    dist_parallel_for(
        &rank,
        [](void *args, int64_t lo, int64_t) {
          if (lo == 7)
            dist_index_error(static_cast<dist_rank *>(args), "ids", 7, 9, 9);
        },
        &rank, 10, 1);
    ADD_FAILURE();
  });
  EXPECT_EQ(backend.getFailureStatus(), kExitBadInput);
}

TEST(Failures, UnknownCommunicator) {
  EXPECT_EQ(failureOf(1, [](dist_rank &rank) { reduceOne(rank, 1, "x"); }),
            "rank 0: no communicator 1");
}
