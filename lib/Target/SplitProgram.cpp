//===- SplitProgram.cpp - Parts that are compiled apart -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitProgram.h"
#include "dist/Conversion/RowKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dist;

/// Each part costs a few milliseconds of its own; more of them than cores, so
/// that a large one does not hold up the rest.
static constexpr unsigned kMaxParts = 12;

/// An op of a kernel becomes loops that are optimised with care, one of a
/// segment's body a call.
static constexpr size_t kKernelWeight = 8;

/// How LLVM is told which symbols an object file shows.
static constexpr llvm::StringLiteral kLinkageAttrName = "llvm.linkage";

namespace {
struct Weighed {
  func::FuncOp function;
  size_t weight = 0;
  unsigned part = 0;
};
} // namespace

static size_t getWeight(func::FuncOp function) {
  size_t count = 0;
  function.walk([&](Operation *) { ++count; });
  return function->hasAttr(kKernelAttrName) ? count * kKernelWeight : count;
}

/// The heaviest first, each to the part that is lightest.
static SmallVector<Weighed> distribute(ModuleOp module) {
  SmallVector<Weighed> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration())
      functions.push_back({function, getWeight(function)});
  SmallVector<std::pair<size_t, unsigned>> order;
  for (auto [index, weighed] : llvm::enumerate(functions))
    order.emplace_back(weighed.weight, index);
  llvm::sort(order, std::greater<>());
  SmallVector<size_t> weights(kMaxParts, 0);
  for (auto [weight, index] : order) {
    size_t *lightest = llvm::min_element(weights);
    functions[index].part = lightest - weights.begin();
    *lightest += weight;
  }
  return functions;
}

/// The symbols that `function` names, in the order in which it does.
static llvm::SetVector<Operation *> findUsed(func::FuncOp function,
                                             const SymbolTable &symbols) {
  llvm::SetVector<Operation *> used;
  auto uses = SymbolTable::getSymbolUses(&function.getBody());
  for (const SymbolTable::SymbolUse &use : *uses)
    if (Operation *symbol =
            symbols.lookup(use.getSymbolRef().getRootReference()))
      used.insert(symbol);
  return used;
}

/// A declaration of a function, a copy of a constant.
static void declare(OpBuilder &b, Operation *symbol) {
  auto function = dyn_cast<func::FuncOp>(symbol);
  if (!function || function.isDeclaration()) {
    b.clone(*symbol);
    return;
  }
  func::FuncOp::create(b, function.getLoc(), function.getName(),
                       function.getFunctionType())
      .setPrivate();
}

SmallVector<ModuleOp> dist::splitProgram(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<Weighed> functions = distribute(module);
  SmallVector<llvm::SetVector<Operation *>> own(kMaxParts), used(kMaxParts);
  for (Weighed &weighed : functions) {
    own[weighed.part].insert(weighed.function);
    used[weighed.part].insert_range(findUsed(weighed.function, symbols));
  }
  SmallVector<ModuleOp> parts;
  OpBuilder b(module.getContext());
  for (auto [mine, symbolsOfPart] : llvm::zip_equal(own, used)) {
    if (mine.empty())
      continue;
    parts.push_back(ModuleOp::create(b, module.getLoc()));
    b.setInsertionPointToEnd(parts.back().getBody());
    for (Operation *symbol : symbolsOfPart)
      if (!mine.contains(symbol))
        declare(b, symbol);
    b.clearInsertionPoint();
  }
  unsigned next = 0;
  for (const auto &mine : own) {
    if (mine.empty())
      continue;
    for (Operation *function : mine) {
      function->removeAttr(kLinkageAttrName); // other parts may call it
      function->moveBefore(parts[next].getBody(), parts[next].getBody()->end());
    }
    ++next;
  }
  // Declarations and constants, of which the parts have copies.
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    op.erase();
  for (ModuleOp part : parts)
    module.push_back(part);
  return parts;
}
