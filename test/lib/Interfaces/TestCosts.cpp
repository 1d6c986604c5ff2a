//===- TestCosts.cpp - Shows the cost of every op -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "dist/Interfaces/CostOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace dist;

namespace {
struct TestCosts : PassWrapper<TestCosts, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestCosts)

  StringRef getArgument() const final { return "dist-test-print-costs"; }
  StringRef getDescription() const final {
    return "Shows the cost of every op as a remark";
  }
  void runOnOperation() override {
    getOperation()->walk([](CostOpInterface op) {
      op->emitRemark() << op.getFlops() << " flops, " << op.getBytes()
                       << " bytes";
    });
    markAllAnalysesPreserved();
  }
};
} // namespace

void test::registerTestCosts() { PassRegistration<TestCosts>(); }
