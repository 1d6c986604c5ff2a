//===- FactorClasses.cpp - Dimensions that are the same -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/FactorClasses.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace dist;

FactorClasses::FactorClasses(ModuleOp module, Joins joins) {
  addNodes(module);
  classes.grow(numNodes);
  module.walk([&](ShardingRuleOpInterface op) { joinOp(op, joins); });
  joinCalls(module);
  joinEntries(module);
  module.walk(
      [&](ConstraintOp op) { joinValues(op.getOperand(), op.getResult()); });
  classes.compress();
}

void FactorClasses::addValue(Value value) {
  firstNode[value] = numNodes;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    numNodes += type.getRank();
}

void FactorClasses::addNodes(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value arg : block.getArguments())
          addValue(arg);
    for (Value result : op->getResults())
      addValue(result);
    if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op)) {
      ShardingRule rule = ruled.getShardingRule();
      firstFactor[op] = numNodes;
      numNodes += rule.factors.size();
      ruleOf[op] = rules.size();
      rules.push_back(std::move(rule));
    }
  });
}

const ShardingRule *FactorClasses::lookupRule(Operation *op) const {
  auto it = ruleOf.find(op);
  return it == ruleOf.end() ? nullptr : &rules[it->second];
}

void FactorClasses::joinTensor(Operation *op, Value value,
                               const ShardingRule::Dims &dims, unsigned tensor,
                               Joins joins) {
  for (auto [dim, factors] : llvm::enumerate(dims)) {
    unsigned node = getNode(value, dim);
    if (factors.size() == 1 && joins(op, factors.front()))
      classes.join(node, getFactorNode(op, factors.front()));
    if (factors.size() < 2)
      continue;
    Composite composite{op, node, {}, tensor, unsigned(dim)};
    for (unsigned factor : factors)
      composite.factors.push_back(getFactorNode(op, factor));
    composites.push_back(std::move(composite));
  }
}

void FactorClasses::joinOp(Operation *op, Joins joins) {
  const ShardingRule &rule = *lookupRule(op);
  unsigned tensor = 0, first = composites.size();
  for (auto [value, dims] : llvm::zip_equal(op->getOperands(), rule.operands))
    joinTensor(op, value, dims, tensor++, joins);
  for (auto [value, dims] : llvm::zip_equal(op->getResults(), rule.results))
    joinTensor(op, value, dims, tensor++, joins);
  compositesOf[op] = {first, composites.size()};
}

void FactorClasses::joinValues(Value a, Value b) {
  if (auto type = dyn_cast<RankedTensorType>(a.getType()))
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      classes.join(getNode(a, dim), getNode(b, dim));
}

void FactorClasses::joinCalls(ModuleOp module) {
  SymbolTable symbols(module);
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    Block &body = callee.getBody().front();
    for (auto [operand, arg] :
         llvm::zip_equal(call.getOperands(), body.getArguments()))
      joinValues(operand, arg);
    for (auto [result, returned] : llvm::zip_equal(
             call.getResults(), body.getTerminator()->getOperands()))
      joinValues(result, returned);
  });
}

/// A parameter or an input is the same in the step and in the evaluation.
void FactorClasses::joinEntries(ModuleOp module) {
  llvm::DenseMap<std::pair<StringRef, Attribute>, Value> first;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isPrivate())
      continue;
    for (BlockArgument arg : func.getArguments())
      for (StringRef mark :
           {StringRef(nn::kParamAttrName), StringRef(nn::kInputAttrName)}) {
        Attribute name = func.getArgAttr(arg.getArgNumber(), mark);
        if (!name)
          continue;
        auto [it, isNew] = first.try_emplace({mark, name}, arg);
        if (!isNew && it->second.getType() == arg.getType())
          joinValues(it->second, arg);
      }
  }
}

/// True if the value of `op` is broadcast from nothing or from a scalar.
static bool isBroadcast(Operation *op) {
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    return cast<RankedTensorType>(repeat.getInput().getType()).getRank() == 0;
  return isa<arith::ConstantOp, nn::IotaOp>(op);
}

void dist::unshareBroadcasts(ModuleOp module) {
  SmallVector<Operation *> broadcasts;
  module.walk([&](Operation *op) {
    if (isBroadcast(op))
      broadcasts.push_back(op);
  });
  for (Operation *op : broadcasts) {
    if (op->use_empty())
      continue;
    OpBuilder builder(op);
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}
