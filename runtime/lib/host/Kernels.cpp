//===- Kernels.cpp - Choice of the kernels that fit the CPU ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace dist;

bool dist::isSupported(const Kernels &kernels) {
  if (&kernels == &kBaselineKernels)
    return true;
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (&kernels == &kAvx2Kernels)
    return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw");
}

const Kernels &dist::hostKernels() {
  static const Kernels &widest = isSupported(kAvx512Kernels) ? kAvx512Kernels
                                 : isSupported(kAvx2Kernels) ? kAvx2Kernels
                                                             : kBaselineKernels;
  return widest;
}
