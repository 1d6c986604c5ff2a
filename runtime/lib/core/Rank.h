//===- Rank.h - One rank of a run -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_RANK_H
#define DIST_RUNTIME_CORE_RANK_H

#include "core/Backend.h"
#include "core/Trace.h"

/// The opaque `dist_rank` of runtime.h. Its fields belong to its rank's thread
/// while the rank plays.
struct dist_rank {
  dist_rank(dist::Backend &backend, const dist::Manifest &manifest,
            int32_t index)
      : backend(backend), manifest(manifest), index(index) {}

  dist::Backend &backend;
  const dist::Manifest &manifest;
  const int32_t index;
  char *arena = nullptr;
  int64_t step = 0;
  int64_t commNanoseconds = 0; ///< spent in collectives since it was reset
  dist::History history;
  dist::Trace *trace = nullptr; ///< null: nobody asked
  dist::Operation mark;         ///< what a segment says it is at
  int64_t markBegin = 0;        ///< 0: it says nothing
  std::vector<void *> buffers;  ///< room for the largest variadic collective
};

namespace dist {

/// Ends what the segment of `rank` has marked last.
void endMark(dist_rank &rank);

/// Runs a collective with its history, trace and time.
bool runCollective(dist_rank &rank, const CollectiveCall &call);

} // namespace dist

#endif // DIST_RUNTIME_CORE_RANK_H
