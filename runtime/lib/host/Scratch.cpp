//===- Scratch.cpp - Working memory of a thread ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scratch.h"

#include <cstdio>

using namespace dist;

ThreadScratch &ThreadScratch::get() {
  thread_local ThreadScratch scratch;
  return scratch;
}

void ThreadScratch::grow(int64_t bytes) {
  if (bytes <= size)
    return;
  memory.reset();
  size = (bytes + 63) / 64 * 64;
  memory.reset(std::aligned_alloc(64, static_cast<size_t>(size)));
  if (!memory) {
    std::fprintf(stderr, "error: no memory for %lld bytes of kernel scratch\n",
                 static_cast<long long>(size));
    std::abort();
  }
}

void *dist::threadScratch(int64_t bytes) {
  ThreadScratch &scratch = ThreadScratch::get();
  scratch.grow(bytes);
  return scratch.getMemory();
}
