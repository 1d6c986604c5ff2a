//===- KernelsAvx512.cpp - Kernels for AVX-512 ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define DIST_VECTOR_BYTES 64
#include "AttentionBackward.h"
#include "AttentionForward.h"
#include "GemmBlock.h"

using namespace dist;

const Kernels dist::kAvx512Kernels = {
    "avx512",
    {attentionTask<float>, attentionGradTask<float>, gemmTask<float>},
    {attentionTask<double>, attentionGradTask<double>, gemmTask<double>}};
