//===- Allocations.h - Counts calls of operator new -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_IO_ALLOCATIONS_H
#define DIST_RUNTIME_TEST_IO_ALLOCATIONS_H

#include <cstdint>

/// How often this test program has called operator new.
int64_t countAllocations();

#endif // DIST_RUNTIME_TEST_IO_ALLOCATIONS_H
