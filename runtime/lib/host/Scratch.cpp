//===- Scratch.cpp - Working memory of a thread ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scratch.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {
struct Free {
  void operator()(void *memory) const { std::free(memory); }
};
} // namespace

void *dist::threadScratch(int64_t bytes) {
  thread_local std::unique_ptr<void, Free> memory;
  thread_local int64_t size = 0;
  if (bytes <= size)
    return memory.get();
  memory.reset();
  size = (bytes + 63) / 64 * 64;
  memory.reset(std::aligned_alloc(64, static_cast<size_t>(size)));
  if (!memory) {
    std::fprintf(stderr, "error: no memory for %lld bytes of kernel scratch\n",
                 static_cast<long long>(size));
    std::abort();
  }
  return memory.get();
}
