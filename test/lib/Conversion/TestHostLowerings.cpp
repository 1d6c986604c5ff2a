//===- TestHostLowerings.cpp - Lists the ops without code -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "dist/Conversion/HostLowerings.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace dist;

namespace {
struct TestHostLowerings
    : PassWrapper<TestHostLowerings, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestHostLowerings)

  StringRef getArgument() const final { return "dist-test-list-lowerings"; }
  StringRef getDescription() const final {
    return "Prints how each op of ours becomes code of the host target";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<DistDialect, nn::NNDialect>();
  }
  void runOnOperation() override {
    for (RegisteredOperationName op : getContext().getRegisteredOperations()) {
      if (!isa<DistDialect, nn::NNDialect>(op.getDialect()))
        continue;
      std::string text = describeHostLowering(op);
      if (text.empty())
        text =
            op.hasInterface<DecomposableOpInterface>() ? "decomposed" : "none";
      llvm::outs() << op.getStringRef() << ": " << text << '\n';
    }
  }
};
} // namespace

void test::registerTestHostLowerings() {
  PassRegistration<TestHostLowerings>();
}
