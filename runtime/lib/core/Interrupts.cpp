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

Interrupts::~Interrupts() {
  // A second Ctrl-C of somebody impatient has had its answer too.
  while (came && takeOne()) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Interrupts::takeOne() {
  timespec atOnce = {0, 0};
  return sigtimedwait(&signals, nullptr, &atOnce) > 0;
}

bool Interrupts::hasCome() {
  came = came || takeOne();
  return came;
}
