//===- RecordAmounts.cpp - What the runtime reports and checks ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Interfaces/CostOpInterface.h"
#include "dist/Transforms/Passes.h"

namespace dist {
#define GEN_PASS_DEF_RECORDAMOUNTS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// Walks from an entry through the functions that it calls.
class Amounts {
public:
  explicit Amounts(ModuleOp module) : module(module) {}

  /// Floating-point operations of one call of `func`.
  int64_t getFlops(func::FuncOp func);

  /// The smallest number of rows that `ids` picks from, 0 if it picks from
  /// nothing.
  int64_t getBound(Value ids);

private:
  ModuleOp module;
  llvm::DenseMap<Operation *, int64_t> flopsOf;
};
} // namespace

int64_t Amounts::getFlops(func::FuncOp func) {
  if (auto known = flopsOf.find(func); known != flopsOf.end())
    return known->second;
  int64_t flops = 0;
  func.walk([&](Operation *op) {
    if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops();
    else if (auto call = dyn_cast<func::CallOp>(op))
      flops += getFlops(module.lookupSymbol<func::FuncOp>(call.getCallee()));
  });
  return flopsOf[func] = flops;
}

int64_t Amounts::getBound(Value ids) {
  int64_t bound = 0;
  auto add = [&](int64_t rows) {
    bound = bound == 0 ? rows : rows == 0 ? bound : std::min(bound, rows);
  };
  for (OpOperand &use : ids.getUses()) {
    Operation *user = use.getOwner();
    if (auto embedding = dyn_cast<nn::EmbeddingOp>(user)) {
      if (embedding.getIds() == ids)
        add(embedding.getTable().getType().getDimSize(0));
    } else if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      add(getBound(callee.getArgument(use.getOperandNumber())));
    }
  }
  return bound;
}

namespace {
struct RecordAmounts : dist::impl::RecordAmountsBase<RecordAmounts> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step)
      return;
    Amounts amounts(module);
    OpBuilder b(module.getContext());
    module->setAttr(kFlopsAttrName,
                    b.getI64IntegerAttr(amounts.getFlops(step)));
    for (BlockArgument argument : step.getArguments()) {
      auto name = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    nn::kInputAttrName);
      if (!name || name != "tokens")
        continue;
      if (int64_t bound = amounts.getBound(argument))
        module->setAttr(kVocabAttrName, b.getI64IntegerAttr(bound));
    }
  }
};
} // namespace
