//===- Backend.h - What the runtime asks of a machine -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_BACKEND_H
#define DIST_RUNTIME_CORE_BACKEND_H

#include "core/Manifest.h"

#include <atomic>
#include <mutex>

namespace dist {

/// Exit statuses of a compiled program.
enum ExitStatus {
  kExitDone = 0,
  kExitBadInput = 1,
  kExitNonFinite = 2,
  kExitRankFailed = 3,
  kExitInterrupted = 130
};

/// A collective as one member calls it; fields as in runtime.h. An all-reduce
/// has `buffers` and `counts`, a broadcast its buffer as `result`, the others
/// `operand`, `result` and `count`.
struct CollectiveCall {
  CollectiveKind kind;
  int32_t comm = 0;
  dist_monoid monoid = DIST_SUM;
  dist_dtype dtype = DIST_F32;
  int32_t num = 0;
  void *const *buffers = nullptr;
  const int64_t *counts = nullptr;
  const void *operand = nullptr;
  void *result = nullptr;
  int64_t count = 0;
  int32_t root = 0;
  int32_t numPairs = 0;
  const int32_t *pairs = nullptr;
  const char *op = "";

  /// Elements that this member brings.
  int64_t getNumElements() const;
};

/// The ranks of this process and what connects them. A function that returns
/// false has failed the run.
class Backend {
public:
  virtual ~Backend() = default;

  virtual std::vector<dist_rank *> getLocalRanks() = 0;

  /// Memory that ranks compute on: zeroed, aligned to a page; null if there is
  /// not enough.
  virtual char *allocate(int64_t bytes) = 0;
  virtual void release(char *memory, int64_t bytes) = 0;

  /// Calls `body(context, rank)` for every local rank on its own thread and
  /// returns when all have come back. False if, after a failure, one did not in
  /// time: its thread still uses the memory, so the process can only end.
  virtual bool runOnRanks(void (*body)(void *context, dist_rank &rank),
                          void *context) = 0;

  virtual bool collective(dist_rank &rank, const CollectiveCall &call) = 0;
  virtual bool parallelFor(dist_rank &rank, dist_task task, void *args,
                           int64_t rows, int64_t grain) = 0;

  /// Fails the run: the first failure wins, every rank that waits wakes up.
  void fail(ExitStatus status, std::string message);
  bool hasFailed() const { return failed.load(std::memory_order_acquire); }

  /// The first failure. Valid once the ranks have come back.
  ExitStatus getFailureStatus() const { return failureStatus; }
  const std::string &getFailureMessage() const { return failureMessage; }

protected:
  /// Wakes every rank of this process, and tells the other processes.
  virtual void abort() = 0;

private:
  std::atomic<bool> failed = false;
  std::mutex mutex;
  ExitStatus failureStatus = kExitDone;
  std::string failureMessage;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_BACKEND_H
