//===- ThreadPoolTest.cpp -------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "host/ThreadPool.h"

#include "core/Landing.h"

#include <gtest/gtest.h>
#include <set>

using namespace dist;

namespace {
struct Counts {
  std::vector<std::atomic<int>> rows;
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> cuts;

  explicit Counts(int64_t size) : rows(size) {}
  static void task(void *args, int64_t lo, int64_t hi) {
    auto &self = *static_cast<Counts *>(args);
    for (int64_t i = lo; i < hi; ++i)
      ++self.rows[i];
    std::lock_guard<std::mutex> lock(self.mutex);
    self.cuts.emplace(lo, hi);
  }
};
} // namespace

// Every row once, in the same cuts whatever the number of threads.
TEST(ThreadPool, CutsDependOnRowsAndGrain) {
  for (int64_t threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads, 40);
    for (int64_t rows : {0, 1, 7, 64, 65, 1000})
      for (int64_t grain : {1, 3, 64, 2000}) {
        Counts counts(rows);
        EXPECT_TRUE(pool.parallelFor(Counts::task, &counts, rows, grain));
        for (std::atomic<int> &row : counts.rows)
          ASSERT_EQ(row, 1);
        std::set<std::pair<int64_t, int64_t>> expected;
        for (int64_t lo = 0; lo < rows; lo += grain)
          expected.emplace(lo, std::min(rows, lo + grain));
        EXPECT_EQ(counts.cuts, expected);
      }
  }
}

// Regions in a row, with and without time for the workers to fall asleep.
TEST(ThreadPool, ManyRegions) {
  for (int64_t spins : {0, 1000}) {
    ThreadPool pool(3, spins);
    std::atomic<int64_t> sum = 0;
    for (int i = 0; i < 2000; ++i) {
      pool.parallelFor(
          [](void *args, int64_t lo, int64_t hi) {
            *static_cast<std::atomic<int64_t> *>(args) += hi - lo;
          },
          &sum, 10, 1);
      if (i % 500 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(sum, 20000);
  }
}

TEST(ThreadPool, NestedRunsInPlace) {
  ThreadPool pool(2, 40);
  struct Nested {
    ThreadPool &pool;
    std::atomic<int64_t> sum = 0;
  } nested{pool};
  pool.parallelFor(
      [](void *args, int64_t, int64_t) {
        auto &self = *static_cast<Nested *>(args);
        self.pool.parallelFor(
            [](void *args, int64_t lo, int64_t hi) {
              static_cast<Nested *>(args)->sum += hi - lo;
            },
            args, 5, 1);
      },
      &nested, 8, 1);
  EXPECT_EQ(nested.sum, 40);
}

// Whichever thread leaves a task, the call says so and the pool works on.
TEST(ThreadPool, LeavingATask) {
  ThreadPool pool(2, 40);
  for (int64_t bad = 0; bad < 6; ++bad) {
    int64_t row = bad;
    EXPECT_FALSE(pool.parallelFor(
        [](void *args, int64_t lo, int64_t) {
          if (lo == *static_cast<int64_t *>(args))
            leave();
        },
        &row, 6, 1));
    Counts counts(10);
    EXPECT_TRUE(pool.parallelFor(Counts::task, &counts, 10, 1));
    EXPECT_EQ(counts.cuts.size(), 10u);
  }
}
