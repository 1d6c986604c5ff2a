//===- Attention.cpp - Scaled dot-product attention -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace dist;

/// Strides of a contiguous tensor of the dimensions that do not broadcast.
static void setBiasStrides(AttentionGradCall &call) {
  const dist_attention_desc &desc = *call.desc;
  const int64_t sizes[] = {desc.b, desc.g, desc.r, desc.s, desc.t};
  int64_t elements = 1;
  for (int i = 4; i >= 0; --i) {
    call.dbiasStrides[i] = desc.bias[i] ? elements : 0;
    elements *= desc.bias[i] ? sizes[i] : 1;
  }
}

void dist::attentionUsing(const Kernels &kernels, dist_rank *rank,
                          const AttentionCall &call) {
  const dist_attention_desc &desc = *call.desc;
  const TypedKernels &typed =
      desc.dtype == DIST_F64 ? kernels.f64 : kernels.f32;
  AttentionCall args = call;
  dist_parallel_for(rank, typed.attention, &args, desc.b * desc.g * desc.r, 1);
}

void dist::attentionGradUsing(const Kernels &kernels, dist_rank *rank,
                              const AttentionGradCall &call) {
  const dist_attention_desc &desc = *call.desc;
  const TypedKernels &typed =
      desc.dtype == DIST_F64 ? kernels.f64 : kernels.f32;
  AttentionGradCall args = call;
  setBiasStrides(args);
  int64_t b = args.dbias && !args.dbiasStrides[0] ? 1 : desc.b;
  int64_t g = args.dbias && !args.dbiasStrides[1] ? 1 : desc.g;
  dist_parallel_for(rank, typed.attentionGrad, &args, b * g, 1);
}

void dist_attention(dist_rank *rank, const dist_attention_desc *desc,
                    const void *q, const void *k, const void *v,
                    const void *bias, const int32_t *segment_ids,
                    const int32_t *key, void *o, void *lse) {
  attentionUsing(hostKernels(), rank,
                 {{desc, q, k, v, bias, segment_ids, key}, o, lse});
}

void dist_attention_grad(dist_rank *rank, const dist_attention_grad_desc *desc,
                         const void *q, const void *k, const void *v,
                         const void *bias, const int32_t *segment_ids,
                         const int32_t *key, const void *o, const void *lse,
                         const void *grad_o, void *dq, void *dk, void *dv,
                         void *dbias) {
  attentionGradUsing(hostKernels(), rank,
                     {{&desc->forward, q, k, v, bias, segment_ids, key},
                      desc,
                      o,
                      lse,
                      grad_o,
                      dq,
                      dk,
                      dv,
                      dbias,
                      {}});
}
