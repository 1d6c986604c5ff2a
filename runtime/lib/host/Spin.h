//===- Spin.h - Waiting for a moment before going to sleep ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_SPIN_H
#define DIST_RUNTIME_HOST_SPIN_H

#include <cstdint>

namespace dist {

/// Tells the core that this is a waiting loop.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

/// Cores that this process may use.
int64_t getNumCores();

/// How often to look before sleeping: long where every thread has a core, short
/// where a waiting thread keeps a working one from its core.
inline int64_t getSpins(int64_t threads, int64_t cores) {
  return threads <= cores ? 4000 : 40;
}

/// Looks up to `spins` times whether `ready()`.
template <typename Ready>
bool spinUntil(int64_t spins, Ready &&ready) {
  for (int64_t i = 0; i < spins; ++i) {
    if (ready())
      return true;
    pause();
  }
  return ready();
}

} // namespace dist

#endif // DIST_RUNTIME_HOST_SPIN_H
