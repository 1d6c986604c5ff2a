//===- ValidationTest.cpp - Wrong programs are told from right ones -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Validation.h"
#include "dist/Conversion/Passes.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interfaces/ExternalModels.h"
#include "dist/Pipelines/Pipelines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace dist;

namespace {
class Validation : public testing::Test {
protected:
  Validation() {
    DialectRegistry registry;
    registry.insert<DistDialect, nn::NNDialect, arith::ArithDialect,
                    func::FuncDialect, math::MathDialect>();
    registerExternalModels(registry);
    registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
  }

  /// Leaves a small GPT in the phases *step*, in `step`, and *local*.
  void compile() {
    PipelineOptions options;
    options.plan.mesh = {{"dp", 2}, {"tp", 2}};
    local = parseSourceFile<ModuleOp>(DIST_TEST_MODELS "/gpt-2l.mlir",
                                      ParserConfig(&context));
    ASSERT_TRUE(local);
    for (Phase phase :
         {Phase::Model, Phase::Step, Phase::Sharded, Phase::Local}) {
      PassManager passes(&context);
      buildPhase(passes, phase, options);
      ASSERT_TRUE(succeeded(passes.run(*local))) << errors;
      if (phase == Phase::Step)
        step = local->clone();
    }
  }

  LogicalResult verify() {
    return interp::verifyAgainstStep(*local, *step, /*learningRate=*/1e-3);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> step, local;
  std::string errors;
};

TEST_F(Validation, PassesWhatIsRight) {
  ASSERT_NO_FATAL_FAILURE(compile());
  EXPECT_TRUE(succeeded(verify())) << errors;
}

TEST_F(Validation, NamesTheWorstResultAndTheOthers) {
  ASSERT_NO_FATAL_FAILURE(compile());
  // All devices agree, on the wrong number.
  auto layer = local->lookupSymbol<func::FuncOp>("block_fwd");
  ASSERT_TRUE(layer);
  AllReduceOp reduction;
  layer.walk([&](AllReduceOp op) { reduction = op; });
  ASSERT_TRUE(reduction);
  reduction.setMonoid(Monoid::Max);
  std::string notes;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      notes += note.str() + "\n";
  });
  EXPECT_TRUE(failed(verify()));
  EXPECT_TRUE(StringRef(errors).starts_with("result '")) << errors;
  EXPECT_TRUE(StringRef(errors).contains(
      "' of the phase local differs from the step by "))
      << errors;
  EXPECT_TRUE(StringRef(errors).ends_with("expected at most 1.0e-10"))
      << errors;
  EXPECT_TRUE(StringRef(notes).contains("so does 'grad:")) << notes;
}

TEST_F(Validation, SeesDevicesThatDisagree) {
  ASSERT_NO_FATAL_FAILURE(compile());
  AllReduceOp reduction;
  local->walk([&](AllReduceOp op) {
    if (!reduction && op.getNumResults() == 1)
      reduction = op;
  });
  ASSERT_TRUE(reduction);
  reduction->replaceAllUsesWith(reduction.getOperands());
  EXPECT_TRUE(failed(verify()));
  EXPECT_FALSE(errors.empty());
}
} // namespace
