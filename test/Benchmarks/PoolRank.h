//===- PoolRank.h - A rank for benchmarks ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels of the runtime need of a rank: the pool that compiled programs
// compute with. Include in one file of a benchmark.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TEST_BENCHMARKS_POOLRANK_H
#define DIST_TEST_BENCHMARKS_POOLRANK_H

#include "dist/runtime.h"
#include "host/ThreadPool.h"

struct dist_rank {
  dist::ThreadPool pool;
};

void dist_parallel_for(dist_rank *rank, dist_task task, void *args,
                       int64_t rows, int64_t grain) {
  rank->pool.parallelFor(task, args, rows, grain);
}

#endif // DIST_TEST_BENCHMARKS_POOLRANK_H
