//===- Allocations.cpp - Counts calls of operator new ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations;

int64_t countAllocations() { return allocations; }

void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
