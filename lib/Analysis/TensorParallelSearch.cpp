//===- TensorParallelSearch.cpp - What tensor parallelism splits ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/TensorParallelSearch.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace dist;

/// Groups larger than this are cut at their most shared class.
static constexpr unsigned kMaxGroup = 10;
/// More shared classes than this stay whole.
static constexpr unsigned kMaxHubs = 4;

/// How often each function runs when the entry runs once.
static llvm::DenseMap<Operation *, double> countCalls(ModuleOp module,
                                                      func::FuncOp entry) {
  llvm::DenseMap<Operation *, double> calls;
  std::function<void(func::FuncOp, double)> visit = [&](func::FuncOp func,
                                                        double count) {
    calls[func] += count;
    llvm::DenseMap<Operation *, double> callees;
    SmallVector<func::FuncOp> order;
    func.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callees[callee]++ == 0)
        order.push_back(callee);
    });
    for (func::FuncOp callee : order)
      visit(callee, count * callees[callee]);
  };
  visit(entry, 1);
  return calls;
}

TensorParallelSearch::TensorParallelSearch(
    ModuleOp module, func::FuncOp entry, const FactorClasses &classes,
    int64_t size, llvm::function_ref<bool(unsigned)> mayBeSplit)
    : classes(classes), size(size) {
  findParameters(module, entry);
  findCandidates(module, entry, mayBeSplit);
  opsOf.resize(candidates.size());
  numOpsOf.resize(candidates.size());
  addPins(entry);
  auto calls = countCalls(module, entry);
  for (auto func : module.getOps<func::FuncOp>())
    if (double count = calls.lookup(func))
      func.walk([&](ShardingRuleOpInterface op) { addOp(op, count); });
}

/// The values of `sources` inside of functions too, and what only renames or
/// casts them.
static llvm::DenseSet<Value> follow(ModuleOp module, ArrayRef<Value> sources) {
  llvm::DenseSet<Value> found;
  SmallVector<Value> worklist;
  auto add = [&](Value value) {
    if (found.insert(value).second)
      worklist.push_back(value);
  };
  llvm::for_each(sources, add);
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (auto call = dyn_cast<func::CallOp>(user))
        add(module.lookupSymbol<func::FuncOp>(call.getCallee())
                .getArgument(use.getOperandNumber()));
      else if (isa<nn::RearrangeOp, arith::TruncFOp, arith::ExtFOp>(user))
        add(user->getResult(0));
    }
  return found;
}

static bool isTp(AxisAttr axis) { return axis.getName() == "tp"; }

/// The dimension that the user wants `tp` on, -1 where he wants it on none;
/// nothing where he does not say or wants a part of the axis.
static std::optional<int> getPin(func::FuncOp entry, unsigned arg) {
  auto wish = entry.getArgAttrOfType<ShardingAttr>(arg, kShardingAttrName);
  if (!wish)
    return std::nullopt;
  for (auto [dim, axes] : llvm::enumerate(wish.getDims())) {
    const AxisAttr *axis = llvm::find_if(axes.getAxes(), isTp);
    if (axis != axes.getAxes().end())
      return axis->isWhole() ? std::optional<int>(dim) : std::nullopt;
  }
  return -1;
}

void TensorParallelSearch::findParameters(ModuleOp module, func::FuncOp entry) {
  SmallVector<Value> all, others;
  for (BlockArgument arg : entry.getArguments())
    if (entry.getArgAttr(arg.getArgNumber(), nn::kParamAttrName)) {
      all.push_back(arg);
      if (getPin(entry, arg.getArgNumber()) != -1)
        others.push_back(arg);
    }
  parameters = follow(module, all);
  wholeParameters = parameters;
  for (Value value : follow(module, others))
    wholeParameters.erase(value);
}

void TensorParallelSearch::addPins(func::FuncOp entry) {
  for (BlockArgument arg : entry.getArguments()) {
    std::optional<int> pin = getPin(entry, arg.getArgNumber());
    if (!pin || !parameters.contains(arg))
      continue;
    auto type = cast<RankedTensorType>(arg.getType());
    OpCost cost;
    cost.rule = nullptr;
    cost.pin = *pin;
    cost.calls = 1;
    cost.needsSplit = false;
    cost.bytes = {double(type.getNumElements()) *
                  type.getElementTypeBitWidth() / 8};
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      auto it = indexOf.find(classes.getClass(arg, dim));
      cost.factors.push_back(it == indexOf.end() ? -1 : it->second);
    }
    for (int candidate : cost.factors)
      if (candidate >= 0) {
        ++numOpsOf[candidate];
        opsOf[candidate].push_back(ops.size());
      }
    ops.push_back(std::move(cost));
  }
}

void TensorParallelSearch::findCandidates(
    ModuleOp module, func::FuncOp entry,
    llvm::function_ref<bool(unsigned)> mayBeSplit) {
  llvm::DenseSet<unsigned> sequences;
  module.walk([&](nn::AttentionOp op) {
    int64_t rank = cast<RankedTensorType>(op.getQ().getType()).getRank();
    sequences.insert(classes.getClass(op.getQ(), rank - 2));
    sequences.insert(classes.getClass(op.getK(), 2));
  });
  for (BlockArgument arg : entry.getArguments()) {
    if (!parameters.contains(arg))
      continue;
    for (auto [dim, elements] :
         llvm::enumerate(cast<RankedTensorType>(arg.getType()).getShape())) {
      unsigned id = classes.getClass(arg, dim);
      if (elements % size != 0 || elements == 0 || sequences.contains(id) ||
          !mayBeSplit(id))
        continue;
      if (indexOf.try_emplace(id, candidates.size()).second)
        candidates.push_back(id);
    }
  }
}

void TensorParallelSearch::addOp(Operation *op, double calls) {
  OpCost cost;
  cost.rule = classes.lookupRule(op);
  cost.calls = calls;
  llvm::SmallDenseSet<int> touched;
  for (unsigned factor = 0; factor < cost.rule->factors.size(); ++factor) {
    auto it = indexOf.find(classes.getFactorClass(op, factor));
    cost.factors.push_back(it == indexOf.end() ? -1 : it->second);
    if (cost.factors.back() >= 0)
      touched.insert(cost.factors.back());
  }
  auto addBytes = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    cost.bytes.push_back(double(tensor.getNumElements()) *
                         tensor.getElementTypeBitWidth() / 8);
  };
  llvm::for_each(op->getOperandTypes(), addBytes);
  llvm::for_each(op->getResultTypes(), addBytes);
  auto isParameter = [&](Value v) {
    return parameters.contains(v) && !wholeParameters.contains(v);
  };
  cost.needsSplit =
      isa<nn::EinsumOp>(op) && llvm::any_of(op->getOperands(), isParameter);
  if (auto embedding = dyn_cast<nn::EmbeddingOp>(op))
    if (isParameter(embedding.getTable()))
      if (auto it = indexOf.find(classes.getClass(embedding.getTable(), 0));
          it != indexOf.end())
        cost.rows = it->second;
  if (touched.empty())
    return;
  for (int candidate : touched)
    ++numOpsOf[candidate];
  auto [known, isNew] = opOfKey.try_emplace(getKey(cost), ops.size());
  if (!isNew) {
    ops[known->second].calls += calls;
    return;
  }
  for (int candidate : touched)
    opsOf[candidate].push_back(ops.size());
  ops.push_back(std::move(cost));
}

std::vector<int64_t> TensorParallelSearch::getKey(const OpCost &op) {
  std::vector<int64_t> key = {op.needsSplit, op.rows};
  for (auto [candidate, factor] :
       llvm::zip_equal(op.factors, op.rule->factors)) {
    key.push_back(candidate);
    key.push_back(factor.isWhole);
  }
  for (const auto *tensors : {&op.rule->operands, &op.rule->results})
    for (const ShardingRule::Dims &dims : *tensors) {
      key.push_back(-2); // no candidate, no factor: begins a tensor
      for (const auto &factors : dims) {
        key.push_back(factors.size());
        key.insert(key.end(), factors.begin(), factors.end());
      }
    }
  key.push_back(-2);
  for (double bytes : op.bytes)
    key.push_back(llvm::bit_cast<int64_t>(bytes));
  return key;
}

/// Wire bytes to bring tensor `tensor` to what the op wants: a gather of
/// dimensions that it wants whole or that compete for the axis.
double TensorParallelSearch::getTensorBytes(const OpCost &op,
                                            const ShardingRule::Dims &dims,
                                            unsigned tensor,
                                            ArrayRef<bool> isSplit) const {
  unsigned split = 0, whole = 0;
  for (const auto &dim : dims)
    for (unsigned factor : dim)
      if (op.factors[factor] >= 0 && isSplit[op.factors[factor]]) {
        ++split;
        whole += op.rule->factors[factor].isWhole || dim.size() > 1;
      }
  if (whole == 0 && split < 2)
    return 0;
  return op.bytes[tensor] * double(size - 1) / double(size);
}

/// Wire bytes to bring a parameter from where the user wants it to where its
/// class does, and its gradient back; cutting a whole one is free.
TensorParallelSearch::Score
TensorParallelSearch::evaluatePin(const OpCost &pin,
                                  ArrayRef<bool> isSplit) const {
  const int *split = llvm::find_if(pin.factors, [&](int candidate) {
    return candidate >= 0 && isSplit[candidate];
  });
  int dim = split == pin.factors.end() ? -1 : split - pin.factors.begin();
  Score score;
  if (dim != pin.pin)
    score.bytes = (pin.pin < 0 ? 1 : 2) * pin.bytes.front() * double(size - 1) /
                  double(size);
  return score;
}

TensorParallelSearch::Score
TensorParallelSearch::evaluate(const OpCost &op, ArrayRef<bool> isSplit) const {
  if (!op.rule)
    return evaluatePin(op, isSplit);
  Score score;
  unsigned tensor = 0;
  for (const ShardingRule::Dims &dims : op.rule->operands)
    score.bytes += getTensorBytes(op, dims, tensor++, isSplit);
  for (const ShardingRule::Dims &dims : op.rule->results) {
    score.bytes += getTensorBytes(op, dims, tensor, isSplit);
    for (unsigned factor = 0; factor < op.factors.size(); ++factor)
      if (op.factors[factor] >= 0 && isSplit[op.factors[factor]] &&
          !op.rule->factors[factor].isWhole &&
          !ShardingRule::contains(dims, factor))
        score.bytes += 2 * op.bytes[tensor] * double(size - 1) / double(size);
    ++tensor;
  }
  auto splits = [&](int candidate) {
    return candidate >= 0 && isSplit[candidate];
  };
  bool undivided = (op.needsSplit && llvm::none_of(op.factors, splits)) ||
                   (op.rows >= 0 && !isSplit[op.rows]);
  score.undivided = undivided ? op.calls : 0;
  score.bytes *= op.calls;
  return score;
}

/// Connected groups of candidates when `hubs` are taken out.
SmallVector<SmallVector<unsigned>>
TensorParallelSearch::findGroups(ArrayRef<unsigned> hubs) const {
  llvm::IntEqClasses groups(candidates.size());
  for (const OpCost &op : ops) {
    int first = -1;
    for (int candidate : op.factors) {
      if (candidate < 0 || llvm::is_contained(hubs, unsigned(candidate)))
        continue;
      if (first >= 0)
        groups.join(first, candidate);
      first = candidate;
    }
  }
  groups.compress();
  SmallVector<SmallVector<unsigned>> result(groups.getNumClasses());
  for (unsigned candidate = 0; candidate < candidates.size(); ++candidate)
    if (!llvm::is_contained(hubs, candidate))
      result[groups[candidate]].push_back(candidate);
  llvm::erase_if(result, [](const auto &group) { return group.empty(); });
  return result;
}

SmallVector<unsigned> TensorParallelSearch::chooseHubs() const {
  SmallVector<unsigned> hubs;
  while (true) {
    const SmallVector<SmallVector<unsigned>> groups = findGroups(hubs);
    const auto *large = llvm::find_if(
        groups, [](const auto &group) { return group.size() > kMaxGroup; });
    if (large == groups.end())
      return hubs;
    hubs.push_back(*llvm::max_element(*large, [&](unsigned a, unsigned b) {
      return numOpsOf[a] < numOpsOf[b];
    }));
  }
}

TensorParallelSearch::Score
TensorParallelSearch::decide(ArrayRef<unsigned> group,
                             SmallVectorImpl<bool> &isSplit) const {
  SmallVector<unsigned> touched;
  for (unsigned candidate : group)
    llvm::append_range(touched, opsOf[candidate]);
  llvm::sort(touched);
  touched.erase(llvm::unique(touched), touched.end());
  Score best;
  uint64_t bestBits = 0;
  for (uint64_t bits = 0; bits < (uint64_t(1) << group.size()); ++bits) {
    for (auto [bit, candidate] : llvm::enumerate(group))
      isSplit[candidate] = bits >> bit & 1;
    Score score;
    for (unsigned op : touched)
      score += evaluate(ops[op], isSplit);
    if (bits == 0 || score < best) {
      best = score;
      bestBits = bits;
    }
  }
  for (auto [bit, candidate] : llvm::enumerate(group))
    isSplit[candidate] = bestBits >> bit & 1;
  return best;
}

SmallVector<unsigned> TensorParallelSearch::run() {
  SmallVector<unsigned> hubs = chooseHubs();
  SmallVector<SmallVector<unsigned>> groups = findGroups(hubs);
  unsigned free = std::min<unsigned>(hubs.size(), kMaxHubs);
  SmallVector<bool> best;
  Score bestScore;
  for (uint64_t bits = 0; bits < (uint64_t(1) << free); ++bits) {
    SmallVector<bool> isSplit(candidates.size(), false);
    for (unsigned bit = 0; bit < free; ++bit)
      isSplit[hubs[bit]] = bits >> bit & 1;
    for (const SmallVector<unsigned> &group : groups)
      decide(group, isSplit);
    Score score;
    for (const OpCost &op : ops)
      score += evaluate(op, isSplit);
    if (best.empty() || score < bestScore) {
      best = isSplit;
      bestScore = score;
    }
  }
  SmallVector<unsigned> result;
  for (auto [candidate, split] : llvm::zip(candidates, best))
    if (split)
      result.push_back(candidate);
  return result;
}
