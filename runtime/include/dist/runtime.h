/*===- runtime.h - What a compiled program and its runtime agree on -------===*
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A compiled program is data plus code without globals that change: a manifest
 * (JSON text: tensors, mesh, communicators and, per phase of a step, the list
 * of actions) and an array of segments, the functions that the actions name.
 * The runtime owns one arena per rank and plays the actions in order. Segments
 * reach memory by arena offsets only and call back through the functions below.
 *
 * Sizes are in elements unless a name says bytes. Tensors are row-major;
 * strides are in elements. Every function may be called by all ranks at once;
 * collectives block until the members of the communicator have called them in
 * the same order. Errors do not return: they mark the run as failed, wake every
 * rank and unwind to dist_main, which reports rank, op, peer and step.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DIST_RUNTIME_H
#define DIST_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DIST_ABI_VERSION 1

typedef enum {
  DIST_F64,
  DIST_F32,
  DIST_BF16,
  DIST_F16,
  DIST_I64,
  DIST_I32,
  DIST_I1
} dist_dtype;

typedef enum { DIST_SUM, DIST_MAX, DIST_MIN } dist_monoid;

/** One rank of a run: its arena, its pool of threads, its communicators. */
typedef struct dist_rank dist_rank;

/** A segment works on the tensors at `arena + offsets[i]` bytes; the order of
 * the offsets is the order of its arguments, then results, then workspace. */
typedef void (*dist_segment)(dist_rank *rank, char *arena,
                             const int64_t *offsets);

/** What the compiler emits; `dist_main` runs it. */
typedef struct {
  uint32_t abi_version;
  uint32_t num_segments;
  const char *manifest; /**< JSON, see docs/manifest.md */
  uint64_t manifest_bytes;
  const dist_segment *segments;
} dist_program;

/** Parses the command line of the compiled program (`./train --help`), runs it
 * on all ranks and returns the exit status. Can be called again. */
int dist_main(const dist_program *program, int argc, char **argv);

/*===----------------------------------------------------------------------===*
 * Called by segments
 *===----------------------------------------------------------------------===*/

/** A task works on the rows [lo, hi) of a kernel. */
typedef void (*dist_task)(void *args, int64_t lo, int64_t hi);

/** Runs `task` over [0, rows) on the rank's pool, cut at multiples of `grain`.
 * The cuts depend on `rows` and `grain` only, never on the number of threads.*/
void dist_parallel_for(dist_rank *rank, dist_task task, void *args,
                       int64_t rows, int64_t grain);

/** c[m, n] (+)= a[m, k] * b[k, n], `batch` times. Element (i, j) of a matrix is
 * at `i * row + j * column`; of a row and a column stride one must be 1. */
typedef struct {
  int32_t dtype;      /**< of a, b, c: DIST_F32 or DIST_F64 */
  int32_t accumulate; /**< 1: add to c, 0: overwrite it */
  int64_t batch, m, n, k;
  int64_t a_batch, a_row, a_column;
  int64_t b_batch, b_row, b_column;
  int64_t c_batch, c_row, c_column;
} dist_gemm_desc;

void dist_gemm(dist_rank *rank, const dist_gemm_desc *desc, const void *a,
               const void *b, void *c);

/** Scaled dot-product attention, q `b g r s d`, k `b g t d`, v `b g t e`,
 * result `b g r s e`; the innermost dimension has stride 1, the others the
 * strides given. Semantics of every option: `nn.attention`. */
typedef struct {
  int32_t dtype; /**< DIST_F32 or DIST_F64 */
  int32_t causal;
  int64_t b, g, r, s, t, d, e;
  int64_t q[4];       /**< strides of b, g, r, s */
  int64_t k[3], v[3]; /**< strides of b, g, t */
  int64_t o[4];       /**< strides of b, g, r, s */
  int64_t bias[5];    /**< strides of b, g, r, s, t; 0 broadcasts */
  int64_t window;     /**< Keys at a distance below it, both ways unless causal;
                           0: none */
  double scale, softcap; /**< softcap 0: none */
  double dropout;        /**< rate; 0: none */
  /** Global sizes of b, g, r, s, t and the offsets of this shard's b, g, r, s
   * in them: they index the dropout mask; that of s also says which queries
   * these are for causal, window and segments. t is whole. */
  int64_t global[5], offset[4];
} dist_attention_desc;

/** Writes `o` and `lse` (f32, or f64 for f64; contiguous `b g r s`; the log of
 * the sum of exponentials of a row, -inf where a row attends to nothing).
 * `bias` (same type), `segment_ids` (i32, `b t`), `key` (2 x i32) may be null.
 */
void dist_attention(dist_rank *rank, const dist_attention_desc *desc,
                    const void *q, const void *k, const void *v,
                    const void *bias, const int32_t *segment_ids,
                    const int32_t *key, void *o, void *lse);

/** The gradients of dist_attention: `dq`, `dk`, `dv` with the strides given
 * here; `dbias` (null: not wanted) contiguous in the dimensions of `bias` that
 * do not broadcast. Bit-equal for any number of threads. */
typedef struct {
  dist_attention_desc forward;
  int64_t grad_o[4];
  int64_t dq[4], dk[3], dv[3];
} dist_attention_grad_desc;

void dist_attention_grad(dist_rank *rank, const dist_attention_grad_desc *desc,
                         const void *q, const void *k, const void *v,
                         const void *bias, const int32_t *segment_ids,
                         const int32_t *key, const void *o, const void *lse,
                         const void *grad_o, void *dq, void *dk, void *dv,
                         void *dbias);

/* Collectives on communicator `comm` of the manifest; `op` names the op for
 * messages and traces. Buffers are contiguous. */

/** In place over `num` buffers at once (a variadic all-reduce is one message).
 */
void dist_all_reduce(dist_rank *rank, int32_t comm, dist_monoid monoid,
                     dist_dtype dtype, int32_t num, void *const *buffers,
                     const int64_t *counts, const char *op);

/** `count` elements a rank come together in rank order in `result`. */
void dist_all_gather(dist_rank *rank, int32_t comm, dist_dtype dtype,
                     const void *operand, void *result, int64_t count,
                     const char *op);

/** Member i of the group gets the i-th block of `count` elements, reduced. */
void dist_reduce_scatter(dist_rank *rank, int32_t comm, dist_monoid monoid,
                         dist_dtype dtype, const void *operand, void *result,
                         int64_t count, const char *op);

/** Block j of member i becomes block i of member j; `count` elements each. */
void dist_all_to_all(dist_rank *rank, int32_t comm, dist_dtype dtype,
                     const void *operand, void *result, int64_t count,
                     const char *op);

/** Sends to member `pairs[2i+1]` where this one is `pairs[2i]`; a member that
 * nobody sends to gets zeros. */
void dist_permute(dist_rank *rank, int32_t comm, dist_dtype dtype,
                  const void *operand, void *result, int64_t count,
                  int32_t num_pairs, const int32_t *pairs, const char *op);

/** `count` elements of member `root` go to all. */
void dist_broadcast(dist_rank *rank, int32_t comm, dist_dtype dtype,
                    void *buffer, int64_t count, int32_t root, const char *op);

/** Place of this rank along mesh axis `axis` (an index into the mesh). */
int64_t dist_axis_index(dist_rank *rank, int32_t axis);

/** Says what the rank does from here to its next mark or collective or the end
 * of the segment: `kind` is gemm, attention, kernel, copy or loop, `name` tells
 * calls of a kind apart (for a gemm, its descriptor in full). Both are texts of
 * the program. Costs a branch unless a trace is written. */
void dist_mark(dist_rank *rank, const char *kind, const char *name);

/** Fails the run: `id` at flat position `position` of an index tensor named
 * `name` is not in [0, bound). */
void dist_index_error(dist_rank *rank, const char *name, int64_t position,
                      int64_t id, int64_t bound);

#ifdef __cplusplus
}
#endif

#endif /* DIST_RUNTIME_H */
