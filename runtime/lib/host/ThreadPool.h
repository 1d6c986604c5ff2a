//===- ThreadPool.h - The threads that a rank computes with -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_THREADPOOL_H
#define DIST_RUNTIME_HOST_THREADPOOL_H

#include "dist/runtime.h"
#include "host/Scratch.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace dist {

/// One caller and `size - 1` workers, fewer if the system gives no more. A
/// worker that has waited for `spins` looks sleeps until the next call.
class ThreadPool {
public:
  ThreadPool(int64_t size, int64_t spins);
  ~ThreadPool();

  int64_t getSize() const { return static_cast<int64_t>(workers.size()) + 1; }

  /// Runs `task` on [i * grain, (i + 1) * grain) for every i, cut at `rows`.
  /// Chunks are handed out by a counter; a call from inside a task runs on the
  /// thread that makes it. False if a task left (core/Landing.h); all threads
  /// are out of the tasks then.
  bool parallelFor(dist_task task, void *args, int64_t rows, int64_t grain);

private:
  void work();
  void runChunks();
  void growScratch();
  void waitForWorkers();

  // What is to be done; written while `open` is false and nobody is inside.
  dist_task task = nullptr;
  void *args = nullptr;
  int64_t rows = 0, grain = 1;

  alignas(64) std::atomic<int64_t> next = 0; ///< the chunk to hand out
  alignas(64) std::atomic<bool> open = false;
  std::atomic<int64_t> inside = 0; ///< workers that may touch the above
  std::atomic<bool> left = false;
  alignas(64) std::atomic<uint64_t> generation = 0;
  std::atomic<int64_t> sleepers = 0;
  std::atomic<bool> callerSleeps = false;
  std::atomic<bool> stop = false;

  int64_t spins;
  std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<std::thread> workers;
  /// Of the workers; looked at while none of them is in a region.
  std::vector<ThreadScratch *> scratches;
};

} // namespace dist

#endif // DIST_RUNTIME_HOST_THREADPOOL_H
