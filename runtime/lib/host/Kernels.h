//===- Kernels.h - The hand-written kernels of the host ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels exist once per instruction set; the one that fits the CPU is
// chosen when the program runs. Each is a dist_task: what its rows are and what
// `args` points to stands beside it.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_HOST_KERNELS_H
#define DIST_RUNTIME_HOST_KERNELS_H

#include "dist/runtime.h"

namespace dist {

/// What both directions of attention read; see dist_attention.
struct AttentionInputs {
  const dist_attention_desc *desc;
  const void *q, *k, *v, *bias;
  const int32_t *segmentIds, *key;
};

struct AttentionCall : AttentionInputs {
  void *o, *lse;
};

struct AttentionGradCall : AttentionInputs {
  const dist_attention_grad_desc *grad;
  const void *o, *lse, *gradO;
  void *dq, *dk, *dv, *dbias;
  /// Strides of b, g, r, s, t in `dbias`; 0 where the bias broadcasts.
  int64_t dbiasStrides[5];
};

/// Products with any strides, cut in blocks.
struct GemmCall {
  const dist_gemm_desc *desc;
  const void *a, *b;
  void *c;
  int64_t rows, columns; ///< Of a block.
};

/// Kernels of one element type.
struct TypedKernels {
  dist_task attention;     ///< AttentionCall; a row is one (b, g, r).
  dist_task attentionGrad; ///< AttentionGradCall; a row is one (b, g), without
                           ///< the dimensions that share a slice of dbias.
  dist_task gemm;          ///< GemmCall; a row is one block of one matrix.
};

/// Kernels of one instruction set.
struct Kernels {
  const char *name;
  TypedKernels f32, f64;
};

extern const Kernels kBaselineKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

/// The widest kernels that this CPU runs.
const Kernels &hostKernels();

/// Whether this CPU runs `kernels`.
bool isSupported(const Kernels &kernels);

/// As the functions of runtime.h without `Using`, with the kernels given (and
/// never oneDNN).
void gemmUsing(const Kernels &kernels, dist_rank *rank,
               const dist_gemm_desc *desc, const void *a, const void *b,
               void *c);
void attentionUsing(const Kernels &kernels, dist_rank *rank,
                    const AttentionCall &call);
void attentionGradUsing(const Kernels &kernels, dist_rank *rank,
                        const AttentionGradCall &call);

} // namespace dist

#endif // DIST_RUNTIME_HOST_KERNELS_H
