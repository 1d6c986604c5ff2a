//===- Gemm.cpp - Matrix products -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32 goes to oneDNN, which runs each call on the thread that makes it; f64 and
// what oneDNN does not take or is slow at go to own loops. A product is cut in
// slabs or blocks and the rank's own pool runs them. Where the cuts are depends
// on the shape only, so the bits do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <algorithm>
#include <cassert>
#include <dlfcn.h>
#include <dnnl.h>
#include <optional>

using namespace dist;

namespace {

/// A matrix as BLAS has it: row-major, transposed or not.
struct BlasMatrix {
  char transposed; ///< 'N' or 'T'
  int64_t leading;
};

/// One task's share of the products: see sgemmTask.
struct SgemmCall {
  dist_gemm_desc desc; ///< With c_column = 1.
  BlasMatrix a, b;
  const float *aData, *bData;
  float *cData;
  bool cutRows; ///< Slabs are of m; else of n.
  int64_t slab, slabsPerMatrix;
};

} // namespace

/// The strides of a dimension of size 1 do not matter. Nothing where strides
/// overlap or neither is 1.
static std::optional<BlasMatrix> asBlas(int64_t rows, int64_t columns,
                                        int64_t row, int64_t column) {
  if (columns == 1 || column == 1) {
    if (rows == 1)
      return BlasMatrix{'N', columns};
    if (row >= columns)
      return BlasMatrix{'N', row};
  }
  if (rows == 1 || row == 1) {
    if (columns == 1)
      return BlasMatrix{'T', rows};
    if (column >= rows)
      return BlasMatrix{'T', column};
  }
  return std::nullopt;
}

/// Keeps oneDNN's calls on the calling thread: the pool is the only one that
/// makes threads. A setting of OpenMP's per thread; the library may also have
/// been built without OpenMP.
static void useOneThread() {
  thread_local bool done = false;
  if (done)
    return;
  done = true;
  using SetNumThreads = void (*)(int);
  if (void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<SetNumThreads>(symbol)(1);
}

/// The rows are the slabs of all matrices, those of a matrix together.
static void sgemmTask(void *args, int64_t lo, int64_t hi) {
  const auto &call = *static_cast<const SgemmCall *>(args);
  const dist_gemm_desc &desc = call.desc;
  useOneThread();
  for (int64_t i = lo; i < hi; ++i) {
    int64_t matrix = i / call.slabsPerMatrix;
    int64_t first = i % call.slabsPerMatrix * call.slab;
    int64_t rowAt = call.cutRows ? first : 0;
    int64_t columnAt = call.cutRows ? 0 : first;
    int64_t m = call.cutRows ? std::min(call.slab, desc.m - first) : desc.m;
    int64_t n = call.cutRows ? desc.n : std::min(call.slab, desc.n - first);
    const float *a = call.aData + matrix * desc.a_batch + rowAt * desc.a_row;
    const float *b =
        call.bData + matrix * desc.b_batch + columnAt * desc.b_column;
    float *c = call.cData + matrix * desc.c_batch + rowAt * desc.c_row +
               columnAt * desc.c_column;
    [[maybe_unused]] dnnl_status_t status =
        dnnl_sgemm(call.a.transposed, call.b.transposed, m, n, desc.k, 1, a,
                   call.a.leading, b, call.b.leading, desc.accumulate ? 1 : 0,
                   c, std::max(desc.c_row, n));
    assert(status == dnnl_success && "every layout was checked");
  }
}

/// Work that pays for handing it to another thread, in multiply-adds.
static constexpr int64_t kGrainWork = 96 * 96 * 96;

/// Runs `tasks` equal shares of `work` multiply-adds; what is small stays here.
static void share(dist_rank *rank, dist_task task, void *args, int64_t tasks,
                  int64_t work) {
  int64_t grain = std::max<int64_t>(1, kGrainWork * tasks / work);
  if (tasks <= grain)
    return task(args, 0, tasks);
  dist_parallel_for(rank, task, args, tasks, grain);
}

static void runSgemm(dist_rank *rank, SgemmCall call) {
  // oneDNN packs the other operand once per slab: few slabs, none narrow.
  constexpr int64_t leastSlab = 64;
  const dist_gemm_desc &desc = call.desc;
  call.cutRows = desc.m >= desc.n;
  int64_t length = std::max(desc.m, desc.n), work = desc.m * desc.n * desc.k;
  int64_t most = std::clamp<int64_t>(work >> 27, 4, 64);
  // A power of two, so that the usual numbers of threads get equal shares.
  int64_t slabs = 1;
  while (slabs < most && length >= 2 * slabs * leastSlab &&
         work >= 2 * slabs * kGrainWork)
    slabs *= 2;
  call.slab = (length + slabs * 16 - 1) / (slabs * 16) * 16;
  call.slabsPerMatrix = (length + call.slab - 1) / call.slab;
  share(rank, sgemmTask, &call, desc.batch * call.slabsPerMatrix,
        desc.batch * work);
}

/// The product with c transposed, which swaps the operands.
static dist_gemm_desc transposed(const dist_gemm_desc &desc) {
  dist_gemm_desc swapped = desc;
  std::swap(swapped.m, swapped.n);
  swapped.a_batch = desc.b_batch;
  swapped.a_row = desc.b_column;
  swapped.a_column = desc.b_row;
  swapped.b_batch = desc.a_batch;
  swapped.b_row = desc.a_column;
  swapped.b_column = desc.a_row;
  std::swap(swapped.c_row, swapped.c_column);
  return swapped;
}

static void runLoops(dist_rank *rank, const Kernels &kernels, GemmCall call) {
  constexpr int64_t leastColumns = 128, mostColumns = 512;
  const dist_gemm_desc &desc = *call.desc;
  // The left operand is read in place: cutting columns packs nothing twice.
  bool inPlace = desc.a_column == 1;
  int64_t work = desc.m * desc.n * std::max<int64_t>(desc.k, 1);
  int64_t most = std::clamp<int64_t>(work >> 26, inPlace ? 8 : 4, 64);
  int64_t target = std::min(most, work / kGrainWork);
  call.rows = desc.m, call.columns = desc.n;
  for (int64_t blocks = 1; blocks < target || call.columns > mostColumns;
       blocks *= 2)
    if (call.columns >= 2 * leastColumns &&
        (inPlace || call.columns >= call.rows))
      call.columns = (call.columns / 2 + 31) / 32 * 32;
    else
      call.rows = (call.rows / 2 + 11) / 12 * 12;
  int64_t tasks = desc.batch * ((desc.m + call.rows - 1) / call.rows) *
                  ((desc.n + call.columns - 1) / call.columns);
  const TypedKernels &typed =
      desc.dtype == DIST_F64 ? kernels.f64 : kernels.f32;
  share(rank, typed.gemm, &call, tasks, desc.batch * work);
}

void dist::gemmUsing(const Kernels &kernels, dist_rank *rank,
                     const dist_gemm_desc *desc, const void *a, const void *b,
                     void *c) {
  if (desc->batch == 0 || desc->m == 0 || desc->n == 0)
    return;
  runLoops(rank, kernels, {desc, a, b, c, 0, 0});
}

/// oneDNN loses more than half of its speed on operands whose rows along k lie
/// a multiple of 2 KB apart: they compete for few sets of the cache.
static bool isSlowAlongK(const dist_gemm_desc &desc, const BlasMatrix &a,
                         const BlasMatrix &b) {
  constexpr int64_t conflict = 512;
  return desc.k > 1 && ((a.transposed == 'T' && a.leading % conflict == 0) ||
                        (b.transposed == 'N' && b.leading % conflict == 0));
}

void dist_gemm(dist_rank *rank, const dist_gemm_desc *desc, const void *a,
               const void *b, void *c) {
  if (desc->dtype != DIST_F32 || desc->k == 0)
    return gemmUsing(hostKernels(), rank, desc, a, b, c);
  if (desc->batch == 0 || desc->m == 0 || desc->n == 0)
    return;
  dist_gemm_desc product = *desc;
  auto layout = asBlas(product.m, product.n, product.c_row, product.c_column);
  if (layout && layout->transposed == 'T') {
    product = transposed(product);
    std::swap(a, b);
  }
  auto left = asBlas(product.m, product.k, product.a_row, product.a_column);
  auto right = asBlas(product.k, product.n, product.b_row, product.b_column);
  bool isVector = product.m == 1 || product.n == 1;
  if (!layout || !left || !right ||
      (!isVector && isSlowAlongK(product, *left, *right)))
    return gemmUsing(hostKernels(), rank, &product, a, b, c);
  runSgemm(rank, {product, *left, *right, static_cast<const float *>(a),
                  static_cast<const float *>(b), static_cast<float *>(c), true,
                  0, 0});
}
