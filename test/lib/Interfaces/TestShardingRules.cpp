//===- TestShardingRules.cpp - Shows the rule of every op -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "dist/Interfaces/ShardingRuleOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace dist;

static StringRef describe(Linearity linearity) {
  switch (linearity) {
  case Linearity::No:
    return "no";
  case Linearity::Alone:
    return "alone";
  case Linearity::Jointly:
    return "jointly";
  }
  llvm_unreachable("all linearities are handled");
}

/// `RULE; sizes i=8 j=4; linear alone, no`
static std::string describe(ShardingRuleOpInterface op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ShardingRule rule = op.getShardingRule();
  os << rule << "; sizes";
  for (const Factor &factor : rule.factors)
    os << " " << factor.name << "=" << factor.size;
  os << "; linear ";
  llvm::interleaveComma(
      llvm::seq<unsigned>(0, op->getNumOperands()), os,
      [&](unsigned operand) { os << describe(op.getLinearity(operand)); });
  return text;
}

namespace {
struct TestShardingRules
    : PassWrapper<TestShardingRules, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestShardingRules)

  StringRef getArgument() const final {
    return "dist-test-print-sharding-rules";
  }
  StringRef getDescription() const final {
    return "Shows the sharding rule of every op as a remark";
  }
  void runOnOperation() override {
    getOperation()->walk(
        [](ShardingRuleOpInterface op) { op->emitRemark() << describe(op); });
    markAllAnalysesPreserved();
  }
};
} // namespace

void test::registerTestShardingRules() {
  PassRegistration<TestShardingRules>();
}
