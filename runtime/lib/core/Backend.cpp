//===- Backend.cpp - What the runtime asks of a machine -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Backend.h"

using namespace dist;

int64_t CollectiveCall::getNumElements() const {
  if (kind != CollectiveKind::AllReduce)
    return count;
  int64_t total = 0;
  for (int32_t i = 0; i < num; ++i)
    total += counts[i];
  return total;
}

void Backend::fail(ExitStatus status, std::string message) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (failed.load(std::memory_order_relaxed))
      return;
    failureStatus = status;
    failureMessage = std::move(message);
    failed.store(true, std::memory_order_seq_cst);
  }
  abort();
}
