//===- allocations.cpp - Who allocates in a program -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in front of malloc and mmap of a compiled program and writes, when it
// ends, to the file that DIST_ALLOCATIONS names: for each place that allocated
// a line `call MODULE+OFFSET COUNT`, a line `mapping BYTES` with the largest
// anonymous mapping. A place is the first frame outside of the C and C++
// libraries.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>

namespace {
/// Calls from one return address; free while the address is null.
struct Site {
  std::atomic<void *> address;
  std::atomic<int64_t> count;
};
} // namespace

static constexpr int kNumSites = 1 << 14, kNumFrames = 12;
static Site sites[kNumSites];
static std::atomic<int64_t> largestMapping;
static thread_local bool isInside;

/// Modules that allocate for somebody else.
static bool isPassedThrough(const char *module) {
  for (const char *name : {"libstdc++", "libc.so", "libc++", "ld-linux",
                           "libdist-allocations", "libgcc_s"})
    if (std::strstr(module, name))
      return true;
  return false;
}

static void count(void *address) {
  size_t start =
      reinterpret_cast<uintptr_t>(address) * 0x9e3779b97f4a7c15 >> 50;
  for (size_t i = 0; i < kNumSites; ++i) {
    Site &site = sites[(start + i) % kNumSites];
    void *known = nullptr;
    if (site.address.compare_exchange_strong(known, address) ||
        known == address) {
      ++site.count;
      return;
    }
  }
}

static void note() {
  if (isInside)
    return;
  isInside = true;
  void *frames[kNumFrames];
  int depth = backtrace(frames, kNumFrames);
  void *site = depth > 0 ? frames[depth - 1] : nullptr;
  for (int i = 0; i < depth; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) && !isPassedThrough(info.dli_fname)) {
      site = frames[i];
      break;
    }
  }
  count(site);
  isInside = false;
}

static void write(std::FILE *file) {
  for (const Site &site : sites) {
    if (!site.address)
      continue;
    Dl_info info = {};
    bool known = dladdr(site.address, &info);
    const char *module = known ? info.dli_fname : "?";
    auto offset = static_cast<char *>(site.address.load()) -
                  static_cast<char *>(info.dli_fbase);
    std::fprintf(file, "call %s+0x%tx %ld\n", module, offset,
                 site.count.load());
  }
  std::fprintf(file, "mapping %ld\n", largestMapping.load());
}

__attribute__((constructor)) static void begin() {
  isInside = true; // The first backtrace loads a library.
  void *frames[kNumFrames];
  backtrace(frames, kNumFrames);
  isInside = false;
}

__attribute__((destructor)) static void end() {
  isInside = true;
  const char *path = std::getenv("DIST_ALLOCATIONS");
  if (std::FILE *file = path ? std::fopen(path, "w") : nullptr) {
    write(file);
    std::fclose(file);
  }
}

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
  note();
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  note();
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  note();
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  note();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  note();
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
void *mmap(void *address, size_t bytes, int protection, int flags, int file,
           off_t offset) {
  using Map = void *(*)(void *, size_t, int, int, int, off_t);
  static auto next = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  if (flags & MAP_ANONYMOUS) {
    int64_t size = int64_t(bytes);
    for (int64_t most = largestMapping;
         most < size && !largestMapping.compare_exchange_weak(most, size);)
      ;
    note();
  }
  return next(address, bytes, protection, flags, file, offset);
}
}
