//===- BuildEvaluation.cpp - The forward program without dropout ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Transforms/Passes.h"
#include "mlir/IR/SymbolTable.h"

namespace dist {
#define GEN_PASS_DEF_BUILDEVALUATION
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static void dropAttentionDropout(nn::AttentionOp op) {
  op.removeDropoutAttr();
  op.getKeyMutable().clear();
}

namespace {
/// Gives `@loss` copies of the functions that it calls, so that what the step
/// calls keeps its dropout.
class EvaluationBuilder {
public:
  explicit EvaluationBuilder(ModuleOp module) : symbols(module) {}

  void run(func::FuncOp func) {
    func.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        call.setCallee(getCopy(call.getCallee()).getName());
      else if (auto attention = dyn_cast<nn::AttentionOp>(op))
        dropAttentionDropout(attention);
    });
    for (auto dropout : llvm::make_early_inc_range(
             func.getBody().front().getOps<nn::DropoutOp>())) {
      dropout.getResult().replaceAllUsesWith(dropout.getInput());
      dropout.erase();
    }
  }

private:
  func::FuncOp getCopy(StringRef name) {
    func::FuncOp &copy = copies[name];
    if (copy)
      return copy;
    auto original = symbols.lookup<func::FuncOp>(name);
    auto fresh = cast<func::FuncOp>(original->clone());
    fresh.setName((name + "__eval").str());
    symbols.insert(fresh, std::next(Block::iterator(original)));
    copy = fresh;
    run(fresh);
    return fresh;
  }

  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> copies;
};

struct BuildEvaluation : dist::impl::BuildEvaluationBase<BuildEvaluation> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verifyForm(getOperation())))
      return signalPassFailure();
    auto func = getOperation().lookupSymbol<func::FuncOp>(entry);
    if (!func) {
      getOperation().emitError("has no function '") << entry << "'";
      return signalPassFailure();
    }
    EvaluationBuilder(getOperation()).run(func);
  }
};
} // namespace
