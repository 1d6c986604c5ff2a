//===- KernelsBaseline.cpp - Kernels for any x86-64
//------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define DIST_VECTOR_BYTES 16
#include "AttentionBackward.h"
#include "AttentionForward.h"
#include "GemmBlock.h"

using namespace dist;

const Kernels dist::kBaselineKernels = {
    "baseline",
    {attentionTask<float>, attentionGradTask<float>, gemmTask<float>},
    {attentionTask<double>, attentionGradTask<double>, gemmTask<double>}};
