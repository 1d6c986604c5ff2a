//===- HostBackend.cpp - Ranks as threads of one process ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "host/HostBackend.h"

#include "host/Spin.h"

#include <algorithm>
#include <sys/mman.h>
#include <system_error>

using namespace dist;

HostBackend::HostBackend(const Manifest &manifest, const HostOptions &options)
    : grace(std::min(options.grace, options.timeout)) {
  int64_t ranks = manifest.mesh.getNumRanks(), cores = getNumCores();
  threads = options.threads > 0 ? options.threads
                                : std::max<int64_t>(cores / ranks, 1);
  spins = getSpins(ranks * threads, cores);
  for (int64_t i = 0; i < ranks; ++i)
    workers.push_back(
        std::make_unique<Worker>(*this, manifest, static_cast<int32_t>(i)));
  makeGroups(manifest, options.timeout);
}

io::Error HostBackend::start() {
  for (const auto &worker : workers) {
    try {
      worker->thread =
          std::thread([this, &worker = *worker] { serve(worker); });
    } catch (const std::system_error &) {
      return io::makeError("rank %d of %zu cannot have a thread",
                           worker->rank.index, workers.size());
    }
  }
  return io::Error::success();
}

HostBackend::~HostBackend() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
    ++generation;
  }
  wake.notify_all();
  for (const auto &worker : workers)
    if (worker->thread.joinable())
      worker->thread.join();
}

void HostBackend::makeGroups(const Manifest &manifest,
                             std::chrono::milliseconds timeout) {
  for (const Communicator &communicator : manifest.communicators) {
    for (const auto &worker : workers) {
      int32_t index = worker->rank.index;
      if (manifest.mesh.getFirstOf(index, communicator.parts) != index)
        continue;
      std::vector<int32_t> group =
          manifest.mesh.getGroup(index, communicator.parts);
      std::vector<dist_rank *> members;
      for (int32_t member : group)
        members.push_back(&workers[member]->rank);
      groups.push_back(std::make_unique<Rendezvous>(
          *this, communicator, std::move(members), spins, timeout));
      for (size_t place = 0; place < group.size(); ++place)
        workers[group[place]]->memberships.push_back(
            {groups.back().get(), static_cast<int32_t>(place)});
    }
  }
}

std::vector<dist_rank *> HostBackend::getLocalRanks() {
  std::vector<dist_rank *> ranks;
  for (const auto &worker : workers)
    ranks.push_back(&worker->rank);
  return ranks;
}

char *HostBackend::allocate(int64_t bytes) {
  void *memory =
      mmap(nullptr, std::max<int64_t>(bytes, 1), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  // Fewer misses of the address cache in large products; only a wish.
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<char *>(memory);
}

void HostBackend::release(char *memory, int64_t bytes) {
  munmap(memory, std::max<int64_t>(bytes, 1));
}

/// The life of a rank's thread: runs what `runOnRanks` is given.
void HostBackend::serve(Worker &worker) {
  worker.pool = std::make_unique<ThreadPool>(threads, spins);
  uint64_t seen = 0;
  while (true) {
    auto called = [&] { return generation != seen; };
    spinUntil(spins, called);
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait(lock, called);
    if (stop)
      break;
    seen = generation;
    lock.unlock();
    body(context, worker.rank);
    lock.lock();
    if (--busy == 0)
      done.notify_all();
  }
  worker.pool.reset();
}

bool HostBackend::runOnRanks(void (*newBody)(void *context, dist_rank &rank),
                             void *newContext) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    body = newBody;
    context = newContext;
    busy = static_cast<int64_t>(workers.size());
    ++generation;
  }
  wake.notify_all();
  return waitForRanks();
}

bool HostBackend::waitForRanks() {
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [this] { return busy == 0 || hasFailed(); });
  return done.wait_for(lock, grace, [this] { return busy == 0; });
}

bool HostBackend::collective(dist_rank &rank, const CollectiveCall &call) {
  Worker &worker = *workers[rank.index];
  auto [group, place] = worker.memberships[call.comm];
  return group->run(place, call, *worker.pool);
}

bool HostBackend::parallelFor(dist_rank &rank, dist_task task, void *args,
                              int64_t rows, int64_t grain) {
  bool returned =
      workers[rank.index]->pool->parallelFor(task, args, rows, grain);
  return returned && !hasFailed();
}

void HostBackend::abort() {
  for (const auto &group : groups)
    group->wake();
  std::lock_guard<std::mutex> lock(mutex);
  done.notify_all();
}
