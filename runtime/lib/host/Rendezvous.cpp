//===- Rendezvous.cpp - Where the members of a group meet -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A member that finds the run failed before all have come takes itself back:
// then the meeting never happens. Once it has, all stay until the second one,
// failed or not, because they read each other's calls.
//
//===----------------------------------------------------------------------===//

#include "host/Rendezvous.h"

#include "host/Reduce.h"
#include "host/Spin.h"

#include <algorithm>
#include <cstring>

using namespace dist;

static uint64_t meetingOf(uint64_t state) { return state >> 32; }
static uint32_t comersOf(uint64_t state) {
  return static_cast<uint32_t>(state);
}

Rendezvous::Rendezvous(Backend &backend, const Communicator &communicator,
                       std::vector<dist_rank *> ranks, int64_t spins,
                       std::chrono::milliseconds timeout)
    : backend(backend), communicator(communicator), members(std::move(ranks)),
      seats(std::make_unique<Seat[]>(members.size())), spins(spins),
      timeout(timeout) {
  for (size_t i = 0; i < members.size(); ++i) {
    seats[i].from.resize(members.size());
    seats[i].to.resize(members.size());
  }
}

bool Rendezvous::run(int32_t place, const CollectiveCall &call,
                     ThreadPool &pool) {
  seats[place].call = call;
  if (!meet(place))
    return false;
  bool agreed = agree(place);
  if (agreed)
    compute(place, pool);
  meetAgain();
  return agreed && !backend.hasFailed();
}

void Rendezvous::wake() {
  std::lock_guard<std::mutex> lock(mutex);
  met.notify_all();
}

/// Counts this member in. True if it is the last: then all have met.
bool Rendezvous::join(uint64_t &before) {
  before = state.fetch_add(1);
  if (comersOf(before) + 1 < members.size())
    return false;
  state = (meetingOf(before) + 1) << 32;
  if (sleepers > 0)
    wake();
  return true;
}

/// Takes this member back. False if all have met meanwhile.
bool Rendezvous::withdraw(uint64_t before) {
  uint64_t current = state;
  do {
    if (meetingOf(current) != meetingOf(before) ||
        comersOf(current) == members.size())
      return false;
  } while (!state.compare_exchange_weak(current, current - 1));
  return true;
}

/// Sleeps until all have met, or, if `mayFail`, until the run has failed or the
/// time is over. True if all have met.
bool Rendezvous::sleepUntilMet(uint64_t before, bool mayFail) {
  auto ready = [&] {
    return meetingOf(state) != meetingOf(before) ||
           (mayFail && backend.hasFailed());
  };
  if (!spinUntil(spins, ready)) {
    std::unique_lock<std::mutex> lock(mutex);
    ++sleepers;
    if (mayFail)
      met.wait_for(lock, timeout, ready);
    else
      met.wait(lock, ready);
    --sleepers;
  }
  return meetingOf(state) != meetingOf(before);
}

bool Rendezvous::meet(int32_t place) {
  uint64_t before;
  if (backend.hasFailed())
    return false;
  seats[place].waits = true;
  bool together = join(before) || sleepUntilMet(before, /*mayFail=*/true);
  if (!together && !backend.hasFailed())
    failTimeout(place);
  if (!together && withdraw(before))
    return false;
  if (!together)
    sleepUntilMet(before, /*mayFail=*/false);
  seats[place].waits = false;
  return true;
}

void Rendezvous::meetAgain() {
  uint64_t before;
  if (!join(before))
    sleepUntilMet(before, /*mayFail=*/false);
}

static std::string describe(const CollectiveCall &call) {
  std::string text = nameOf(call.kind);
  if (call.kind == CollectiveKind::AllReduce ||
      call.kind == CollectiveKind::ReduceScatter)
    text += std::string(" ") + (call.monoid == DIST_SUM   ? "sum"
                                : call.monoid == DIST_MAX ? "max"
                                                          : "min");
  text += " '" + std::string(call.op) + "' of ";
  if (call.kind == CollectiveKind::AllReduce)
    for (int32_t i = 0; i < call.num; ++i)
      text += (i ? " + " : "") + std::to_string(call.counts[i]);
  else
    text += std::to_string(call.count);
  text += " " + std::string(nameOf(call.dtype));
  if (call.kind == CollectiveKind::Broadcast)
    text += " from " + std::to_string(call.root);
  return text;
}

void Rendezvous::failTimeout(int32_t place) {
  std::string here, missing;
  for (size_t i = 0; i < members.size(); ++i) {
    std::string rank = std::to_string(members[i]->index);
    const History &history = members[i]->history;
    if (seats[i].waits)
      here += (here.empty() ? "" : ", ") + rank;
    else
      missing += (missing.empty() ? "rank " : ", rank ") + rank + " (in " +
                 history.getCurrentKind() + " '" + history.getCurrentName() +
                 "')";
  }
  backend.fail(kExitRankFailed,
               "step " + std::to_string(members[place]->step) + ": rank " +
                   here + " waited " + std::to_string(timeout.count() / 1000) +
                   " s in " + describe(seats[place].call) + " over (" +
                   communicator.axes + ") for " + missing);
}

static bool equal(const CollectiveCall &a, const CollectiveCall &b) {
  return a.kind == b.kind && a.monoid == b.monoid && a.dtype == b.dtype &&
         a.num == b.num && std::equal(a.counts, a.counts + a.num, b.counts) &&
         a.count == b.count && a.root == b.root && a.numPairs == b.numPairs &&
         std::equal(a.pairs, a.pairs + 2 * a.numPairs, b.pairs) &&
         (a.op == b.op || std::strcmp(a.op, b.op) == 0);
}

/// Fails the run if not all members call the same.
bool Rendezvous::agree(int32_t place) {
  for (size_t i = 1; i < members.size(); ++i) {
    const CollectiveCall &first = seats[0].call, &other = seats[i].call;
    if (equal(first, other))
      continue;
    backend.fail(kExitRankFailed,
                 "step " + std::to_string(members[place]->step) + ": rank " +
                     std::to_string(members[0]->index) + " calls " +
                     describe(first) + " over (" + communicator.axes +
                     "), rank " + std::to_string(members[i]->index) +
                     " calls " + describe(other));
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

/// Elements that a thread reduces, and bytes that it copies, at a time.
static constexpr int64_t kReduceGrain = 1 << 14, kCopyGrain = 1 << 18;

static void copy(ThreadPool &pool, void *to, const void *from, int64_t bytes) {
  struct Copy {
    char *to;
    const char *from;
  } args{static_cast<char *>(to), static_cast<const char *>(from)};
  if (to == from)
    return;
  pool.parallelFor(
      [](void *args, int64_t lo, int64_t hi) {
        auto [to, from] = *static_cast<Copy *>(args);
        std::memcpy(to + lo, from + lo, hi - lo);
      },
      &args, bytes, kCopyGrain);
}

static void reduceOnPool(ThreadPool &pool, const CollectiveCall &call,
                         std::span<const void *const> from,
                         std::span<void *const> to, int64_t lo, int64_t hi) {
  struct Reduction {
    const CollectiveCall &call;
    std::span<const void *const> from;
    std::span<void *const> to;
    int64_t first;
  } args{call, from, to, lo};
  pool.parallelFor(
      [](void *args, int64_t lo, int64_t hi) {
        auto &self = *static_cast<Reduction *>(args);
        reduce(self.call.dtype, self.call.monoid, self.from, self.to,
               self.first + lo, self.first + hi);
      },
      &args, hi - lo, kReduceGrain);
}

static char *blockAt(const void *base, int64_t block,
                     const CollectiveCall &call) {
  return const_cast<char *>(static_cast<const char *>(base)) +
         block * call.count * sizeOf(call.dtype);
}

void Rendezvous::compute(int32_t place, ThreadPool &pool) {
  switch (seats[place].call.kind) {
  case CollectiveKind::AllReduce:
    return allReduce(place, pool);
  case CollectiveKind::ReduceScatter:
    return reduceScatter(place, pool);
  default:
    return exchange(place, pool);
  }
}

/// Each member reduces a share of the elements into the buffers of all.
void Rendezvous::allReduce(int32_t place, ThreadPool &pool) {
  Seat &seat = seats[place];
  auto size = static_cast<int64_t>(members.size());
  for (int32_t i = 0; i < seat.call.num && size > 1; ++i) {
    for (int64_t member = 0; member < size; ++member)
      seat.from[member] = seat.to[member] = seats[member].call.buffers[i];
    // Whole cache lines, so that no two members write the same one.
    int64_t count = seat.call.counts[i];
    int64_t share = ((count + size - 1) / size + 63) / 64 * 64;
    int64_t lo = std::min(place * share, count);
    reduceOnPool(pool, seat.call, seat.from, seat.to, lo,
                 std::min(lo + share, count));
  }
}

void Rendezvous::reduceScatter(int32_t place, ThreadPool &pool) {
  Seat &seat = seats[place];
  for (size_t member = 0; member < members.size(); ++member)
    seat.from[member] = blockAt(seats[member].call.operand, place, seat.call);
  reduceOnPool(pool, seat.call, seat.from, {&seat.call.result, 1}, 0,
               seat.call.count);
}

/// Each member fetches what it needs.
void Rendezvous::exchange(int32_t place, ThreadPool &pool) {
  const CollectiveCall &call = seats[place].call;
  int64_t bytes = call.count * sizeOf(call.dtype);
  auto size = static_cast<int64_t>(members.size());
  switch (call.kind) {
  case CollectiveKind::AllGather:
    for (int64_t i = 0; i < size; ++i)
      copy(pool, blockAt(call.result, i, call), seats[i].call.operand, bytes);
    return;
  case CollectiveKind::AllToAll:
    for (int64_t i = 0; i < size; ++i)
      copy(pool, blockAt(call.result, i, call),
           blockAt(seats[i].call.operand, place, call), bytes);
    return;
  case CollectiveKind::Broadcast:
    return copy(pool, call.result, seats[call.root].call.result, bytes);
  default:
    break;
  }
  for (int32_t i = 0; i < call.numPairs; ++i)
    if (call.pairs[2 * i + 1] == place)
      return copy(pool, call.result, seats[call.pairs[2 * i]].call.operand,
                  bytes);
  std::memset(call.result, 0, bytes);
}
