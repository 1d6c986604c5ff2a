//===- KernelsAvx2.cpp - Kernels for AVX2 and FMA
//--------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define DIST_VECTOR_BYTES 32
#include "AttentionBackward.h"
#include "AttentionForward.h"
#include "GemmBlock.h"

using namespace dist;

const Kernels dist::kAvx2Kernels = {
    "avx2",
    {attentionTask<float>, attentionGradTask<float>, gemmTask<float>},
    {attentionTask<double>, attentionGradTask<double>, gemmTask<double>}};
