//===- WideKernels.cpp - Kernels of 64-byte vectors for any CPU -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of the AVX-512 kernels, compiled for what every CPU has: so their
// sizes and tails are tested where AVX-512 is not there.
//
//===----------------------------------------------------------------------===//

#define DIST_VECTOR_BYTES 64
#include "host/AttentionBackward.h"
#include "host/AttentionForward.h"
#include "host/GemmBlock.h"

#include "TestKernels.h"

using namespace dist;

const Kernels dist::test::kWideKernels = {
    "64-byte vectors",
    {attentionTask<float>, attentionGradTask<float>, gemmTask<float>},
    {attentionTask<double>, attentionGradTask<double>, gemmTask<double>}};
