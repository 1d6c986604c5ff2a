//===- Pipeline.cpp - From kernels on tensors to the LLVM dialect ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Conversion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void dist::buildKernelsToLLVMPipeline(OpPassManager &pm) {
  // The emitter writes addresses in full at every access; the part of a row
  // leaves the sweeps, equal loads become one.
  pm.addPass(createEmitRowKernels());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());

  // After the emitter, which must see which value is costly.
  pm.addPass(createExpandMath());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  // Functions with the bare-pointer convention, so that `llvm.noalias` of a
  // buffer becomes `noalias` of a pointer. Math before the rest: what LLVM has
  // no intrinsic for goes to the C library by `func.call`.
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions bare;
  bare.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(bare));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  // Both need the LLVM dialect: a task takes the address of a function, and
  // branches have a loop annotation of their own.
  pm.addPass(createCallOnPool());
  pm.addPass(createSetLoopAnnotations());
}

void dist::registerConversionPipelines() {
  PassPipelineRegistration<>("dist-kernels-to-llvm",
                             "Kernels on tensors to the LLVM dialect",
                             buildKernelsToLLVMPipeline);
}

void dist::registerKernelDialects(DialectRegistry &registry) {
  registry
      .insert<LLVM::LLVMDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, func::FuncDialect,
              linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect>();
}
