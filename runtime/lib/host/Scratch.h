//===- Scratch.h - Working memory of a thread -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_SCRATCH_H
#define DIST_RUNTIME_HOST_SCRATCH_H

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dist {

/// Working memory of one thread.
class ThreadScratch {
public:
  /// That of the calling thread.
  static ThreadScratch &get();

  int64_t getSize() const { return size; }
  /// Makes it at least `bytes` large; what was in it is lost if it grows.
  void grow(int64_t bytes);
  void *getMemory() const { return memory.get(); }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory;
  int64_t size = 0;
};

/// At least `bytes` of memory of the calling thread, aligned to a cache line,
/// with undefined contents; valid until the thread's next call. It only grows,
/// and a pool grows that of all its threads alike, so a step that repeats
/// allocates nothing whichever thread does what. Ends the process with a
/// message when the system has no memory left.
void *threadScratch(int64_t bytes);

namespace {

/// Cuts a thread's scratch in arrays; internal to each instruction set, see
/// Vector.h. Made twice over the same sequence of
/// `take`: first over nothing, to count the bytes, then over the memory.
class ScratchCutter {
public:
  explicit ScratchCutter(void *memory = nullptr)
      : memory(static_cast<char *>(memory)) {}

  template <typename T>
  T *take(int64_t count) {
    char *at = memory ? memory + used : nullptr;
    used += (count * int64_t(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T *>(at);
  }

  int64_t bytes() const { return used; }

private:
  char *memory;
  int64_t used = 0;
};

} // namespace
} // namespace dist

#endif // DIST_RUNTIME_HOST_SCRATCH_H
