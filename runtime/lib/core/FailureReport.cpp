//===- FailureReport.cpp - What is told of a run that failed --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/FailureReport.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace dist;

static void printHistories(std::FILE *file,
                           const std::vector<dist_rank *> &ranks) {
  for (const dist_rank *rank : ranks) {
    std::fprintf(file, "last operations of rank %d:\n", rank->index);
    rank->history.forEach([&](const Operation &operation) {
      auto step = static_cast<long long>(operation.step);
      auto count = static_cast<long long>(operation.count);
      if (std::strcmp(operation.kind, "segment") != 0)
        std::fprintf(file, "  step %lld %s '%s' over (%s) of %lld\n", step,
                     operation.kind, operation.name, operation.axes, count);
      else
        std::fprintf(file, "  step %lld segment %lld%s%s\n", step, count,
                     *operation.name ? " " : "", operation.name);
    });
  }
}

void dist::reportFailure(const Backend &backend,
                         const std::vector<dist_rank *> &ranks) {
  const std::string &message = backend.getFailureMessage();
  std::fprintf(stderr, "error: %s\n", message.c_str());
  if (backend.getFailureStatus() != kExitRankFailed)
    return;
  printHistories(stderr, ranks);
  std::string path = "dist-abort-" + std::to_string(getpid()) + ".log";
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return;
  std::fprintf(file, "error: %s\n", message.c_str());
  printHistories(file, ranks);
  if (std::fclose(file) == 0)
    std::fprintf(stderr, "also in %s\n", path.c_str());
}
