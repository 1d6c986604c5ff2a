//===- TestAcceptedOps.cpp - Lists the upstream ops of models -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "dist/Interfaces/CostOpInterface.h"
#include "dist/Interfaces/DifferentiableOpInterface.h"
#include "dist/Interfaces/ShardingRuleOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace dist;

namespace {
struct TestAcceptedOps : PassWrapper<TestAcceptedOps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAcceptedOps)

  StringRef getArgument() const final { return "dist-test-print-accepted-ops"; }
  StringRef getDescription() const final {
    return "Prints the ops of arith and math with a rule, a derivative and a "
           "cost";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override {
    for (RegisteredOperationName op : getContext().getRegisteredOperations())
      if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
          op.hasInterface<ShardingRuleOpInterface>() &&
          op.hasInterface<DifferentiableOpInterface>() &&
          op.hasInterface<CostOpInterface>())
        llvm::outs() << "accepted: " << op.getStringRef() << '\n';
    markAllAnalysesPreserved();
  }
};
} // namespace

void test::registerTestAcceptedOps() { PassRegistration<TestAcceptedOps>(); }
