//===- Landing.h - Leaving a segment when the run has failed ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Segments are C: no exception passes through them. When the run fails under
// one, its thread jumps back to the innermost `land`. Between a `land` and a
// `leave` no object with a destructor may live.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_LANDING_H
#define DIST_RUNTIME_CORE_LANDING_H

#include <csetjmp>
#include <cstdlib>

namespace dist {

struct Landing {
  jmp_buf registers;
  Landing *outer;
};

/// The innermost landing of this thread, or null.
inline Landing *&getLanding() {
  thread_local Landing *landing = nullptr;
  return landing;
}

/// Calls `body`; false if it did not come back but left.
template <typename Body>
[[gnu::noinline]] bool land(Body &&body) {
  Landing landing;
  landing.outer = getLanding();
  getLanding() = &landing;
  if (setjmp(landing.registers) == 0) {
    body();
    getLanding() = landing.outer;
    return true;
  }
  getLanding() = landing.outer;
  return false;
}

/// Goes to the innermost landing. The failure is recorded already.
[[noreturn]] inline void leave() {
  if (Landing *landing = getLanding())
    std::longjmp(landing->registers, 1);
  std::abort(); // A function of runtime.h outside a segment.
}

} // namespace dist

#endif // DIST_RUNTIME_CORE_LANDING_H
