//===- TestPool.h - A pool that runs tasks in any order ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for the runtime's ranks: a kernel has to give the same bits for any
// number of threads and any order of its tasks. Include in one file of a test.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_HOST_TESTPOOL_H
#define DIST_RUNTIME_TEST_HOST_TESTPOOL_H

#include "dist/runtime.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

struct dist_rank {
  int threads = 1;
  bool reversed = false; ///< Hands out the last task first.
};

extern "C" void dist_parallel_for(dist_rank *rank, dist_task task, void *args,
                                  int64_t rows, int64_t grain) {
  std::atomic<int64_t> next = 0;
  int64_t tasks = (rows + grain - 1) / grain;
  auto work = [&] {
    for (int64_t i; (i = next++) < tasks;) {
      int64_t at = rank->reversed ? tasks - 1 - i : i;
      task(args, at * grain, std::min(rows, (at + 1) * grain));
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < rank->threads; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
}

#endif // DIST_RUNTIME_TEST_HOST_TESTPOOL_H
