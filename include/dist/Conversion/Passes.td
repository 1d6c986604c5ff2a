//===- Passes.td - Conversions to native code ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_PASSES
#define DIST_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def EmitRowKernels : Pass<"dist-emit-row-kernels", "::mlir::ModuleOp"> {
  let summary = "Writes fusion groups of linalg.generics as loops over rows";
  let description = [{
    A function marked `dist.kernel` holds one fusion group: `linalg.generic`s on
    tensors that share one iteration space. It reads buffers through
    `bufferization.to_tensor` and leaves results with
    `bufferization.materialize_in_destination`; both name function arguments of
    static shape, strides and offset. The group becomes one private function
    over a range of rows, in scalar loops that LLVM vectorises:

    ```mlir
    func.func @softmax(%rank: !llvm.ptr, %x: memref<64x96xf32>,
                       %y: memref<64x96xf32>) attributes {dist.kernel} {
      %m = linalg.generic {... "reduction"} ... arith.maximumf
      %e = linalg.generic ... arith.subf, math.exp
      %s = linalg.generic {... "reduction"} ins(%e) ... arith.addf
      %z = linalg.generic ... ins(%e, %s) ... arith.divf
      bufferization.materialize_in_destination %z in restrict writable %y
    // ==>
      call @softmax_rows(%x, %y, %c0, %c64) {dist.grain = 39 : i64}

    func.func private @softmax_rows(%x, %y, %lo: index, %hi: index) {
      scf.for %r = %lo to %hi {
        %m = scf.for %j ... { maximumf }
        %s = scf.for %j ... { exp, kept in the row of %y; addf }
        scf.for %j ... { divf }
    ```

    Rows and columns follow from the ops. What a reduction reduces whose result
    meets those dimensions again are the columns; a reduction over the rows
    (bias gradients, a sum of losses) must not be read by another op of the
    kernel; it is computed per block of a fixed grid of
    rows, in the function's workspace, and the blocks are added in order: the
    result has the same bits for any number of threads. Where rows are few or
    columns many, and nothing else in the kernel needs rows, tasks are ranges of
    columns instead, and no workspace is needed. Several dimensions may
    be rows, or columns; neighbours that all buffers walk through alike become
    one loop. A value that is costly to compute and used again in a later sweep
    waits in the row of the output that is written there.

    Arithmetic gets `fastmath<reassoc, contract, nsz>`, maxima that the kernel
    uses itself also `nnan`; never `arcp`, `afn` or `ninf`.

    **Constraints**
    - (C1) The first argument is the rank, an `!llvm.ptr`.
    - (C2) A kernel that reduces over its rows has an argument
      `memref<N x i8> {dist.workspace}` of at least
      `computeRowKernelWorkspace` bytes, aligned as the widest element.
    - (C3) Buffers that are given as several arguments do not overlap; a buffer
      updated in place is one argument.
    - (C4) An in-place update overwrites the element that it reads, in the last
      sweep that reads it.

    Before: kernels on tensors. After: no `dist.kernel`, no tensor in them; the
    call carries `dist.grain`, the rows that one task should take.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def ExpandMath : Pass<"dist-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands f32 math functions into branch-free arithmetic";
  let description = [{
    A loop that calls a function of the C library is not vectorised. `math.exp`
    on f32 becomes a polynomial with at most 1.1 ulp of error (exp(NaN) = NaN,
    exp(-inf) = 0, exp(inf) = inf), `math.rsqrt` becomes `1 / sqrt`, and the
    functions below get upstream's polynomials. What is not expanded is left
    for the C library; `math.expm1` and `math.log1p` become calls of it here.
    Conversions between f32 and bf16 become integer arithmetic.

    ```mlir
    %y = math.exp %x : f32
    // ==>
    %s = math.fma %x, %log2e, %magic : f32 ...
    ```

    Before: any function; fusion is done, as this hides which op is costly.
    After: no `math.exp`, `math.tanh`, `math.log`, `math.erf` on f32, no
    `math.rsqrt`, `math.expm1`, `math.log1p`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def SetLoopAnnotations : Pass<"dist-set-loop-annotations"> {
  let summary = "Makes the loop hints of structured loops count in LLVM";
  let description = [{
    A hint on `scf.for` is carried to `llvm.br` and `llvm.cond_br` as a
    discardable attribute that the translation to LLVM ignores. This makes it
    the branch's own.

    Before: LLVM dialect. After: no discardable `llvm.loop_annotation`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CallOnPool : Pass<"dist-call-on-pool", "::mlir::ModuleOp"> {
  let summary = "Hands calls over a range to the rank's pool of threads";
  let description = [{
    A call that carries `dist.grain` runs over the range of its last two
    operands, from 0. Its other operands are packed in a structure on the stack:

    ```mlir
    llvm.call @k(%x, %y, %c0, %rows) {dist.grain = 39 : i64}
    // ==>
    llvm.call @dist_parallel_for(%rank, @k_task, %args, %rows, %c39)

    llvm.func internal @k_task(%args: !llvm.ptr, %lo: i64, %hi: i64) {
      %x = llvm.load %args[0] ...
      llvm.call @k(%x, %y, %lo, %hi)
    ```

    The rank is the first argument of the calling function. A range that one
    task covers is called in place.

    Before: LLVM dialect. After: no `dist.grain`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerSegments : Pass<"dist-lower-segments", "::mlir::ModuleOp"> {
  let summary = "Makes segments kernels and calls of the runtime on buffers";
  let description = [{
    Every private function of tensors gets a body on memrefs, `@NAME_body(rank,
    arguments, results, workspace)`. Neighbouring elementwise ops, reductions
    and broadcasts become one kernel where their shapes allow it; einsums of two
    operands become `dist_gemm`, attention and collectives calls of the runtime;
    permutations and slices only rename elements. Buffers inside of a segment lie
    in its workspace by lifetime.

    ```mlir
    func.func private @step_0(%x: tensor<8x16xf32>) -> tensor<8x16xf32>
    // ==>
    func.func @step_0_body(%rank: !llvm.ptr, %x: memref<8x16xf32>, %y: memref<8x16xf32>,
                           %workspace: memref<512xi8>) attributes {dist.segment = "step_0"} {
      call @kernel_0(%rank, %x, %y) : (!llvm.ptr, memref<8x16xf32>, memref<8x16xf32>) -> ()
    ```

    Before: *staged* and later: public functions hold calls only, private ones
    none. After: *runtime*; no type has an encoding. `dist.communicators` lists
    the groups that collectives name by number.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // DIST_CONVERSION_PASSES
