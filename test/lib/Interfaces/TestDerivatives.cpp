//===- TestDerivatives.cpp - Writes the derivative of every op ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interfaces/DifferentiableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace dist;

/// Makes a function of one op and its return into one that takes the cotangents
/// of the op's results and returns those of its operands. What the op exposes
/// for its derivative has no cotangent.
static LogicalResult writeDerivative(func::FuncOp function) {
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  auto op =
      dyn_cast_if_present<DifferentiableOpInterface>(terminator->getPrevNode());
  if (!op)
    return success();
  SmallVector<Value> cotangents;
  for (Type type : op->getResultTypes())
    cotangents.push_back(body.addArgument(type, op->getLoc()));
  OpBuilder builder(terminator);
  op = cast<DifferentiableOpInterface>(op.exposeResiduals(builder));
  cotangents.resize(op->getNumResults());
  FailureOr<SmallVector<Value>> grads = op.buildVjp(builder, cotangents);
  if (failed(grads))
    return failure();
  if (grads->size() != op->getNumOperands())
    return op->emitError("has ") << grads->size() << " cotangents, but "
                                 << op->getNumOperands() << " operands";
  llvm::erase(*grads, Value());
  terminator->setOperands(*grads);
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     ValueRange(*grads).getTypes()));
  return success();
}

namespace {
struct TestDerivatives : PassWrapper<TestDerivatives, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDerivatives)

  StringRef getArgument() const final { return "dist-test-write-derivatives"; }
  StringRef getDescription() const final {
    return "Replaces functions of one op by the op's derivative";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, nn::NNDialect>();
  }
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(writeDerivative(function)))
        signalPassFailure();
  }
};
} // namespace

void test::registerTestDerivatives() { PassRegistration<TestDerivatives>(); }
