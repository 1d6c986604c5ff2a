//===- AllocationTest.cpp -------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../io/TempFolder.h"
#include "MeanProgram.h"
#include "TinyProgram.h"
#include "io/SafeTensors.h"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DIST_TEST_SANITIZED 1
#endif
#endif

using namespace dist;

/// Calls of every function that allocates, by anybody in this process.
static std::atomic<int64_t> allocations;

#ifndef DIST_TEST_SANITIZED // Sanitizers bring their own.
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  ++allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
}
#endif

namespace {
class Allocation : public testing::Test {
protected:
  Allocation() { std::filesystem::current_path(folder.root); }
  ~Allocation() override {
    tinyHook = {};
    MeanProgram::hook = nullptr;
    std::filesystem::current_path("/");
  }

  /// Notes the count at a moment of rank 0.
  static void note(int64_t moment) {
    if (moment == 2)
      early = allocations.load();
    late = allocations.load();
  }

  static inline std::atomic<int64_t> early, late, calls;
  TempFolder folder;
};
} // namespace

TEST_F(Allocation, CountsOnesOwn) {
#ifdef DIST_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers replace malloc";
#endif
  int64_t before = allocations;
  ::operator delete(::operator new(8)); // An expression could be left out.
  EXPECT_GT(allocations, before);
}

// From the second step on, with pools, collectives, a log and a trace.
TEST_F(Allocation, NoneAfterTheFirstStep) {
  float x[15] = {1, 2, 3}, y[5] = {1};
  {
    auto writer = io::SafeTensorsWriter::create(
        "in",
        {{"x", io::ElementType::F32, {5, 3}}, {"y", io::ElementType::F32, {5}}},
        {});
    ASSERT_FALSE(bool(writer->append(x, sizeof(x))));
    ASSERT_FALSE(bool(writer->append(y, sizeof(y))));
    ASSERT_FALSE(bool(writer->finish()));
  }
  tinyHook.body = [](dist_rank *rank, int64_t step) {
    dist_parallel_for(rank, [](void *, int64_t, int64_t) {}, nullptr, 100, 1);
    if (dist_axis_index(rank, 0) == 0)
      note(step);
  };
  TinyProgram two(2, 2);
  ASSERT_EQ(two.run({"--steps=60", "--inputs=in", "--log=log", "--trace=trace",
                     "--dump=out"}),
            0)
      << two.errors;
  EXPECT_EQ(early, late);
}

// Nor while data is read, epochs turn and evaluations run.
TEST_F(Allocation, NoneWhileReading) {
  folder.write("text", std::string(50, 'x'));
  calls = 0;
  MeanProgram::hook = [](dist_rank *rank) {
    if (dist_axis_index(rank, 0) == 0)
      note(++calls);
  };
  MeanProgram two(2);
  ASSERT_EQ(two.run({"--steps=60", "--data=text", "--eval-data=text",
                     "--eval-every=5", "--log=log"}),
            0)
      << two.errors;
  EXPECT_GT(calls, 60);
  EXPECT_EQ(early, late);
}
