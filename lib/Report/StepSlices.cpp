//===- StepSlices.cpp - Which part of a step an op is in ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSlices.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dist;

StringRef dist::getName(StepPart part) {
  constexpr StringRef kNames[] = {"forward", "backward", "update"};
  return kNames[unsigned(part)];
}

std::string dist::getResultName(func::FuncOp func, unsigned index) {
  constexpr std::pair<StringRef, StringRef> kKinds[] = {
      {nn::kParamAttrName, "param:"},
      {nn::kGradAttrName, "grad:"},
      {nn::kStateAttrName, ""},
      {nn::kMetricAttrName, ""}};
  for (auto [attr, prefix] : kKinds)
    if (auto name = func.getResultAttrOfType<StringAttr>(index, attr))
      return (prefix + name.getValue()).str();
  if (func.getResultAttr(index, nn::kLossAttrName))
    return "loss";
  return func.getResultAttr(index, nn::kNormAttrName) ? "grad_norm" : "";
}

/// Marks with `part` what `value` is computed from and has no part yet.
static void markSlice(Value value, StepPart part,
                      llvm::DenseMap<Operation *, StepPart> &partOf) {
  SmallVector<Operation *> work;
  auto visit = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op && partOf.try_emplace(op, part).second)
      work.push_back(op);
  };
  visit(value);
  while (!work.empty())
    llvm::for_each(work.pop_back_val()->getOperands(), visit);
}

StepSlices::StepSlices(ModuleOp module, func::FuncOp entry) : entry(entry) {
  Operation *ret = entry.getBody().front().getTerminator();
  auto markResults = [&](StepPart part, ArrayRef<StringRef> attrs) {
    for (OpOperand &operand : ret->getOpOperands())
      if (llvm::any_of(attrs, [&](StringRef attr) {
            return bool(entry.getResultAttr(operand.getOperandNumber(), attr));
          }))
        markSlice(operand.get(), part, partOf);
  };
  markResults(StepPart::Forward, {nn::kLossAttrName, nn::kMetricAttrName});
  markResults(StepPart::Backward, {nn::kGradAttrName});
  for (auto call : entry.getOps<func::CallOp>()) {
    Counts counts = {};
    auto it = partOf.find(call);
    counts[unsigned(it == partOf.end() ? StepPart::Update : it->second)] = 1;
    addCalls(module, module.lookupSymbol<func::FuncOp>(call.getCallee()),
             counts);
  }
}

void StepSlices::addCalls(ModuleOp module, func::FuncOp func, Counts counts) {
  Counts &all = countsOf.try_emplace(func, Counts{}).first->second;
  for (auto [sum, count] : llvm::zip_equal(all, counts))
    sum += count;
  func.walk([&](func::CallOp call) {
    addCalls(module, module.lookupSymbol<func::FuncOp>(call.getCallee()),
             counts);
  });
}

int64_t StepSlices::getCount(Operation *op, StepPart part) const {
  Operation *func = op->getParentOp();
  if (func != entry) {
    auto it = countsOf.find(func);
    return it == countsOf.end() ? 0 : it->second[unsigned(part)];
  }
  auto it = partOf.find(op);
  StepPart mine = it == partOf.end() ? StepPart::Update : it->second;
  return mine == part;
}
