//===- Interrupts.cpp - Ctrl-C and SIGTERM --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Interrupts.h"

#include <ctime>

using namespace dist;

Interrupts::Interrupts() {
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
}

Interrupts::~Interrupts() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

bool Interrupts::hasCome() {
  timespec atOnce = {0, 0};
  if (sigtimedwait(&signals, nullptr, &atOnce) > 0)
    came = true;
  return came;
}
