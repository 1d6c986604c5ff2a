//===- Interrupts.h - Ctrl-C and SIGTERM ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_INTERRUPTS_H
#define DIST_RUNTIME_CORE_INTERRUPTS_H

#include <csignal>

namespace dist {

/// While it lives, SIGINT and SIGTERM wait until somebody asks; threads started
/// meanwhile do not get them either.
class Interrupts {
public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

  /// True if one has come, now or at an earlier question.
  bool hasCome();

private:
  bool takeOne();

  sigset_t signals, before;
  bool came = false;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_INTERRUPTS_H
