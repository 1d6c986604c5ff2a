//===- HandKernels.h - Kernels written with intrinsics ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TEST_BENCHMARKS_ROWKERNELS_HANDKERNELS_H
#define DIST_TEST_BENCHMARKS_ROWKERNELS_HANDKERNELS_H

#include <cstdint>

namespace dist::test {

/// False where the machine has no AVX2; the functions then do nothing.
bool hasHandKernels();

/// f32, contiguous; `columns` a multiple of 8. Semantics of the kernel inputs
/// of the same names.
void softmaxByHand(const float *x, float *y, int64_t rows, int64_t columns);
void layerNormByHand(const float *x, const float *gamma, const float *beta,
                     float *y, float *mean, float *rstd, int64_t rows,
                     int64_t columns);
void biasGeluByHand(const float *x, const float *bias, float *y, int64_t rows,
                    int64_t columns);
void layerNormGradByHand(const float *x, const float *gamma, const float *mean,
                         const float *rstd, const float *dy, float *dx,
                         float *dgamma, float *dbeta, int64_t rows,
                         int64_t columns);

} // namespace dist::test

#endif // DIST_TEST_BENCHMARKS_ROWKERNELS_HANDKERNELS_H
