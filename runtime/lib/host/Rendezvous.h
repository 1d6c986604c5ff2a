//===- Rendezvous.h - Where the members of a group meet ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_RENDEZVOUS_H
#define DIST_RUNTIME_HOST_RENDEZVOUS_H

#include "core/Rank.h"
#include "host/ThreadPool.h"

#include <chrono>
#include <memory>

namespace dist {

/// The collectives of one group of ranks that are threads of this process. Each
/// member leaves its call on its seat; when all have, they check that the calls
/// agree, each computes its share straight from the others' buffers, and all
/// wait for the last. A reduction goes in the order of the members, whoever
/// computes it, so every member has the same bits.
class Rendezvous {
public:
  /// `members` in the order of the communicator `communicator`.
  Rendezvous(Backend &backend, const Communicator &communicator,
             std::vector<dist_rank *> members, int64_t spins,
             std::chrono::milliseconds timeout);

  /// The call of member `place`. False if the run has failed: because the calls
  /// differ, a member did not come in time, or for a reason elsewhere.
  bool run(int32_t place, const CollectiveCall &call, ThreadPool &pool);

  /// Makes who waits look whether the run has failed.
  void wake();

private:
  struct alignas(64) Seat {
    CollectiveCall call;
    std::vector<const void *> from; ///< room for a pointer a member
    std::vector<void *> to;
    std::atomic<bool> waits = false;
  };

  bool meet(int32_t place);
  void meetAgain();
  bool join(uint64_t &before);
  bool withdraw(uint64_t before);
  bool sleepUntilMet(uint64_t before, bool mayFail);
  void failTimeout(int32_t place);
  bool agree(int32_t place);

  void compute(int32_t place, ThreadPool &pool);
  void allReduce(int32_t place, ThreadPool &pool);
  void reduceScatter(int32_t place, ThreadPool &pool);
  void exchange(int32_t place, ThreadPool &pool);

  Backend &backend;
  const Communicator &communicator;
  std::vector<dist_rank *> members;
  std::unique_ptr<Seat[]> seats;
  int64_t spins;
  std::chrono::milliseconds timeout;

  /// Meetings held in the high half, members that have come in the low one.
  alignas(64) std::atomic<uint64_t> state = 0;
  std::atomic<int64_t> sleepers = 0;
  std::mutex mutex;
  std::condition_variable met;
};

} // namespace dist

#endif // DIST_RUNTIME_HOST_RENDEZVOUS_H
