//===- HostBackend.h - Ranks as threads of one process ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_HOSTBACKEND_H
#define DIST_RUNTIME_HOST_HOSTBACKEND_H

#include "host/Rendezvous.h"

namespace dist {

struct HostOptions {
  int64_t threads = 0; ///< per rank; 0: the cores shared out, at least 1
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  /// After a failure: how long ranks have to come back before the process is
  /// given up.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
};

class HostBackend : public Backend {
public:
  HostBackend(const Manifest &manifest, const HostOptions &options);

  /// Starts the ranks' threads. To be called before anything else.
  io::Error start();

  ~HostBackend() override;

  std::vector<dist_rank *> getLocalRanks() override;
  char *allocate(int64_t bytes) override;
  void release(char *memory, int64_t bytes) override;
  bool runOnRanks(void (*body)(void *context, dist_rank &rank),
                  void *context) override;
  bool collective(dist_rank &rank, const CollectiveCall &call) override;
  bool parallelFor(dist_rank &rank, dist_task task, void *args, int64_t rows,
                   int64_t grain) override;

protected:
  void abort() override;

private:
  /// A place in a group of a communicator.
  struct Membership {
    Rendezvous *group;
    int32_t place;
  };

  struct Worker {
    Worker(Backend &backend, const Manifest &manifest, int32_t index)
        : rank(backend, manifest, index) {}

    dist_rank rank;
    std::unique_ptr<ThreadPool> pool; ///< lives as long as its thread
    std::vector<Membership> memberships;
    std::thread thread;
  };

  void makeGroups(const Manifest &manifest, std::chrono::milliseconds timeout);
  void serve(Worker &worker);
  bool waitForRanks();

  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<Rendezvous>> groups;
  std::chrono::milliseconds grace;
  int64_t threads, spins; ///< of each rank's pool

  // What the ranks are to do.
  std::mutex mutex;
  std::condition_variable wake, done;
  void (*body)(void *context, dist_rank &rank) = nullptr;
  void *context = nullptr;
  std::atomic<uint64_t> generation = 0;
  int64_t busy = 0;
  bool stop = false;
};

} // namespace dist

#endif // DIST_RUNTIME_HOST_HOSTBACKEND_H
