//===- library-memory.cpp - What the GEMM library allocates ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: dist-library-memory THREADS < PRODUCTS
//
// PRODUCTS are descriptors of dist_gemm, each the words of `dist_gemm_desc` as
// decimal numbers. Runs each product twice on a pool of THREADS threads and
// prints the most bytes that were allocated at a time during a second run. The
// runtime itself has what it needs after the first, so they are the library's.
//
//===----------------------------------------------------------------------===//

#include "host/Kernels.h"
#include "host/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>

static std::atomic<bool> isMeasuring;
static std::atomic<int64_t> live, peak;

[[maybe_unused]] static void *note(void *memory) {
  if (!memory || !isMeasuring)
    return memory;
  int64_t now = live += int64_t(malloc_usable_size(memory));
  for (int64_t most = peak;
       most < now && !peak.compare_exchange_weak(most, now);)
    ;
  return memory;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DIST_SANITIZED 1 // Sanitizers bring their own.
#endif
#endif

#ifndef DIST_SANITIZED
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

void *malloc(size_t bytes) { return note(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) {
  return note(__libc_calloc(count, bytes));
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return note(__libc_memalign(alignment, bytes));
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = note(__libc_memalign(alignment, bytes));
  return *memory ? 0 : 12;
}
void free(void *memory) {
  if (memory && isMeasuring)
    live -= int64_t(malloc_usable_size(memory));
  __libc_free(memory);
}
}
#endif

using namespace dist;

/// A rank that is nothing but its pool.
struct dist_rank {
  ThreadPool pool;
};

void dist_parallel_for(dist_rank *rank, dist_task task, void *args,
                       int64_t rows, int64_t grain) {
  rank->pool.parallelFor(task, args, rows, grain);
}

/// Larger products are measured at a part of their size: the library works on
/// blocks that have their full size long before.
static constexpr int64_t kMostWork = int64_t(1) << 32;

static void shrink(dist_gemm_desc &desc, int64_t threads) {
  desc.batch = std::min(desc.batch, 2 * threads);
  while (desc.batch * desc.m * desc.n * desc.k > kMostWork) {
    int64_t largest = std::max({desc.m, desc.n, desc.k});
    for (int64_t *size : {&desc.m, &desc.n, &desc.k})
      if (*size == largest) {
        *size /= 2;
        break;
      }
  }
}

static void *allocate(int64_t batch, int64_t batchStride, int64_t rows,
                      int64_t rowStride, int64_t columns,
                      int64_t columnStride) {
  int64_t last = (batch - 1) * batchStride + (rows - 1) * rowStride +
                 (columns - 1) * columnStride;
  return std::calloc(std::max<int64_t>(last + 1, 1), sizeof(double));
}

static void measure(dist_rank &rank, dist_gemm_desc desc) {
  shrink(desc, rank.pool.getSize());
  if (desc.batch * desc.m * desc.n * desc.k == 0)
    return;
  void *a = allocate(desc.batch, desc.a_batch, desc.m, desc.a_row, desc.k,
                     desc.a_column);
  void *b = allocate(desc.batch, desc.b_batch, desc.k, desc.b_row, desc.n,
                     desc.b_column);
  void *c = allocate(desc.batch, desc.c_batch, desc.m, desc.c_row, desc.n,
                     desc.c_column);
  if (a && b && c) {
    dist_gemm(&rank, &desc, a, b, c);
    live = 0;
    isMeasuring = true;
    dist_gemm(&rank, &desc, a, b, c);
    isMeasuring = false;
  }
  std::free(a);
  std::free(b);
  std::free(c);
}

static bool read(dist_gemm_desc &desc) {
  int64_t words[sizeof(desc) / sizeof(int64_t)];
  for (int64_t &word : words)
    if (std::scanf("%ld", &word) != 1)
      return false;
  desc = std::bit_cast<dist_gemm_desc>(words);
  return true;
}

int main(int argc, char **argv) {
  int64_t threads = argc == 2 ? std::atoll(argv[1]) : 0;
  if (threads < 1) {
    std::fprintf(stderr, "usage: dist-library-memory THREADS < PRODUCTS\n");
    return 1;
  }
  dist_rank rank{ThreadPool(threads, /*spins=*/0)};
  dist_gemm_desc desc;
  while (read(desc))
    measure(rank, desc);
  std::printf("%ld\n", peak.load());
  return 0;
}
