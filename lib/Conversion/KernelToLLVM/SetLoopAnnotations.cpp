//===- SetLoopAnnotations.cpp - Loop hints of branches --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace dist {
#define GEN_PASS_DEF_SETLOOPANNOTATIONS
#include "dist/Conversion/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static constexpr llvm::StringLiteral kAnnotation = "llvm.loop_annotation";

namespace {
struct SetLoopAnnotations
    : dist::impl::SetLoopAnnotationsBase<SetLoopAnnotations> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      auto hint = dyn_cast_if_present<LLVM::LoopAnnotationAttr>(
          op->getDiscardableAttr(kAnnotation));
      if (!hint)
        return;
      if (auto branch = dyn_cast<LLVM::BrOp>(op))
        branch.setLoopAnnotationAttr(hint);
      else if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
        branch.setLoopAnnotationAttr(hint);
      op->removeDiscardableAttr(kAnnotation);
    });
  }
};
} // namespace
