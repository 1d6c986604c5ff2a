//===- Abi.cpp - The functions that segments call -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Landing.h"
#include "core/Rank.h"

using namespace dist;

void dist::endMark(dist_rank &rank) {
  if (rank.markBegin != 0)
    rank.trace->add(rank.mark, rank.markBegin, now());
  rank.markBegin = 0;
}

bool dist::runCollective(dist_rank &rank, const CollectiveCall &call) {
  const std::vector<Communicator> &all = rank.manifest.communicators;
  bool known = call.comm >= 0 && call.comm < static_cast<int64_t>(all.size());
  Operation operation{rank.step, nameOf(call.kind), call.op,
                      known ? all[call.comm].axes.c_str() : "",
                      call.getNumElements()};
  rank.history.begin(operation);
  if (!known) {
    rank.backend.fail(kExitRankFailed, "rank " + std::to_string(rank.index) +
                                           ": no communicator " +
                                           std::to_string(call.comm));
    return false;
  }
  endMark(rank);
  int64_t begin = now();
  bool done = rank.backend.collective(rank, call);
  int64_t end = now();
  rank.commNanoseconds += end - begin;
  if (rank.trace)
    rank.trace->add(operation, begin, end);
  return done;
}

static void runOrLeave(dist_rank *rank, const CollectiveCall &call) {
  if (!runCollective(*rank, call))
    leave();
}

extern "C" {

void dist_parallel_for(dist_rank *rank, dist_task task, void *args,
                       int64_t rows, int64_t grain) {
  if (!rank->backend.parallelFor(*rank, task, args, rows, grain))
    leave();
}

void dist_all_reduce(dist_rank *rank, int32_t comm, dist_monoid monoid,
                     dist_dtype dtype, int32_t num, void *const *buffers,
                     const int64_t *counts, const char *op) {
  runOrLeave(rank, {.kind = CollectiveKind::AllReduce,
                    .comm = comm,
                    .monoid = monoid,
                    .dtype = dtype,
                    .num = num,
                    .buffers = buffers,
                    .counts = counts,
                    .op = op});
}

void dist_all_gather(dist_rank *rank, int32_t comm, dist_dtype dtype,
                     const void *operand, void *result, int64_t count,
                     const char *op) {
  runOrLeave(rank, {.kind = CollectiveKind::AllGather,
                    .comm = comm,
                    .dtype = dtype,
                    .operand = operand,
                    .result = result,
                    .count = count,
                    .op = op});
}

void dist_reduce_scatter(dist_rank *rank, int32_t comm, dist_monoid monoid,
                         dist_dtype dtype, const void *operand, void *result,
                         int64_t count, const char *op) {
  runOrLeave(rank, {.kind = CollectiveKind::ReduceScatter,
                    .comm = comm,
                    .monoid = monoid,
                    .dtype = dtype,
                    .operand = operand,
                    .result = result,
                    .count = count,
                    .op = op});
}

void dist_all_to_all(dist_rank *rank, int32_t comm, dist_dtype dtype,
                     const void *operand, void *result, int64_t count,
                     const char *op) {
  runOrLeave(rank, {.kind = CollectiveKind::AllToAll,
                    .comm = comm,
                    .dtype = dtype,
                    .operand = operand,
                    .result = result,
                    .count = count,
                    .op = op});
}

void dist_permute(dist_rank *rank, int32_t comm, dist_dtype dtype,
                  const void *operand, void *result, int64_t count,
                  int32_t num_pairs, const int32_t *pairs, const char *op) {
  runOrLeave(rank, {.kind = CollectiveKind::Permute,
                    .comm = comm,
                    .dtype = dtype,
                    .operand = operand,
                    .result = result,
                    .count = count,
                    .numPairs = num_pairs,
                    .pairs = pairs,
                    .op = op});
}

void dist_broadcast(dist_rank *rank, int32_t comm, dist_dtype dtype,
                    void *buffer, int64_t count, int32_t root, const char *op) {
  runOrLeave(rank, {.kind = CollectiveKind::Broadcast,
                    .comm = comm,
                    .dtype = dtype,
                    .result = buffer,
                    .count = count,
                    .root = root,
                    .op = op});
}

void dist_mark(dist_rank *rank, const char *kind, const char *name) {
  if (!rank->trace)
    return;
  endMark(*rank);
  rank->mark = {rank->step, kind, name, "", 0};
  rank->markBegin = now();
}

int64_t dist_axis_index(dist_rank *rank, int32_t axis) {
  return rank->manifest.mesh.getCoordinate(rank->index, axis);
}
}

/// Builds the message in a frame that is gone before the thread leaves.
[[gnu::noinline]] static void failIndex(dist_rank &rank, const char *name,
                                        int64_t position, int64_t id,
                                        int64_t bound) {
  rank.backend.fail(kExitBadInput,
                    "step " + std::to_string(rank.step) + ": '" + name +
                        "' is " + std::to_string(id) + " at row " +
                        std::to_string(position) +
                        (rank.manifest.mesh.getNumRanks() > 1
                             ? " of rank " + std::to_string(rank.index)
                             : "") +
                        ", expected 0 to " + std::to_string(bound - 1));
}

extern "C" void dist_index_error(dist_rank *rank, const char *name,
                                 int64_t position, int64_t id, int64_t bound) {
  failIndex(*rank, name, position, id, bound);
  leave();
}
