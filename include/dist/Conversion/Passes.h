//===- Passes.h - Conversions to native code --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_PASSES_H
#define DIST_CONVERSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dist {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dist/Conversion/Passes.h.inc"

/// From kernels on tensors to the LLVM dialect: `dist-kernels-to-llvm`.
void buildKernelsToLLVMPipeline(mlir::OpPassManager &pm);

void registerConversionPipelines();

/// The upstream dialects that kernels are written in.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace dist

#endif // DIST_CONVERSION_PASSES_H
