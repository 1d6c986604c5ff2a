//===- TestKernels.h - All kernels that can be tested here ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_HOST_TESTKERNELS_H
#define DIST_RUNTIME_TEST_HOST_TESTKERNELS_H

#include "host/Kernels.h"

#include <vector>

namespace dist::test {

/// See WideKernels.cpp.
extern const Kernels kWideKernels;

/// The kernels of every instruction set that this CPU has.
inline std::vector<const Kernels *> testableKernels() {
  std::vector<const Kernels *> all = {&kWideKernels};
  for (const Kernels *kernels :
       {&kBaselineKernels, &kAvx2Kernels, &kAvx512Kernels})
    if (isSupported(*kernels))
      all.push_back(kernels);
  return all;
}

} // namespace dist::test

#endif // DIST_RUNTIME_TEST_HOST_TESTKERNELS_H
