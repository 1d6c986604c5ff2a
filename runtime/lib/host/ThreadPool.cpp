//===- ThreadPool.cpp - The threads that a rank computes with -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller opens a region, takes chunks itself, closes it and waits for the
// workers that are inside. A worker counts itself in before it looks whether
// the region is open, the caller closes before it looks at the count: so either
// the worker sees it closed or the caller waits for the worker. Nobody waits
// for a worker that is still asleep.
//
//===----------------------------------------------------------------------===//

#include "host/ThreadPool.h"

#include "core/Landing.h"
#include "host/Spin.h"

#include <algorithm>
#include <dlfcn.h>
#include <system_error>

using namespace dist;

/// True while this thread runs a task.
static bool &insideTask() {
  thread_local bool inside = false;
  return inside;
}

/// oneDNN would start a team of its own in each thread that calls it; the pool
/// is what makes threads here. The OpenMP library is there only if it is
/// linked.
static void stayAloneInOpenMP() {
  using SetNumThreads = void (*)(int);
  if (void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<SetNumThreads>(symbol)(1);
}

/// Runs one task after the other on this thread, cut as for many.
static void runAlone(dist_task task, void *args, int64_t rows, int64_t grain) {
  for (int64_t lo = 0; lo < rows; lo += grain)
    task(args, lo, std::min(rows, lo + grain));
}

ThreadPool::ThreadPool(int64_t size, int64_t spins) : spins(spins) {
  stayAloneInOpenMP();
  try {
    for (int64_t i = 1; i < size; ++i)
      workers.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
    // Results do not depend on the number of threads.
  }
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [this] { return scratches.size() == workers.size(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
    ++generation;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

bool ThreadPool::parallelFor(dist_task newTask, void *newArgs, int64_t newRows,
                             int64_t newGrain) {
  newGrain = std::max<int64_t>(newGrain, 1);
  if (newRows <= newGrain || workers.empty() || insideTask()) {
    runAlone(newTask, newArgs, newRows, newGrain);
    return true;
  }
  growScratch();
  task = newTask;
  args = newArgs;
  rows = newRows;
  grain = newGrain;
  left = false;
  next = 0;
  open = true;
  ++generation;
  if (sleepers > 0) {
    std::lock_guard<std::mutex> lock(mutex);
    wake.notify_all();
  }
  runChunks();
  open = false;
  waitForWorkers();
  return !left;
}

/// Gives every thread as much scratch as one of them has needed so far: which
/// thread takes which chunk differs from step to step.
void ThreadPool::growScratch() {
  ThreadScratch &own = ThreadScratch::get();
  int64_t most = own.getSize();
  for (const ThreadScratch *scratch : scratches)
    most = std::max(most, scratch->getSize());
  own.grow(most);
  for (ThreadScratch *scratch : scratches)
    scratch->grow(most);
}

void ThreadPool::runChunks() {
  insideTask() = true;
  bool returned = land([this] {
    int64_t chunks = (rows + grain - 1) / grain;
    for (int64_t i = next++; i < chunks && !left; i = next++)
      task(args, i * grain, std::min(rows, (i + 1) * grain));
  });
  insideTask() = false;
  if (!returned)
    left = true;
}

void ThreadPool::waitForWorkers() {
  if (spinUntil(spins, [this] { return inside == 0; }))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  callerSleeps = true;
  done.wait(lock, [this] { return inside == 0; });
  callerSleeps = false;
}

void ThreadPool::work() {
  stayAloneInOpenMP();
  {
    std::lock_guard<std::mutex> lock(mutex);
    scratches.push_back(&ThreadScratch::get());
    done.notify_all();
  }
  uint64_t seen = 0;
  while (true) {
    auto changed = [&] { return generation != seen; };
    if (!spinUntil(spins, changed)) {
      std::unique_lock<std::mutex> lock(mutex);
      ++sleepers;
      wake.wait(lock, changed);
      --sleepers;
    }
    seen = generation;
    if (stop)
      return;
    ++inside;
    if (open)
      runChunks();
    if (--inside == 0 && callerSleeps) {
      std::lock_guard<std::mutex> lock(mutex);
      done.notify_all();
    }
  }
}
