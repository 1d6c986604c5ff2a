//===- Control.cpp - Calls ------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Interpreter.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static RankResults evaluateCall(func::CallOp op, const RankEvaluation &at) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  return at.interpreter.run(
      callee,
      SmallVector<RankTensors, 1>(at.operands.begin(), at.operands.end()));
}

void dist::interp::populateControlEvaluators(EvaluatorRegistry &registry) {
  registry.addCollective<func::CallOp>(evaluateCall);
}
