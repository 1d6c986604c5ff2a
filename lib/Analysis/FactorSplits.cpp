//===- FactorSplits.cpp - How dimensions split into factors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/FactorSplits.h"

using namespace mlir;
using namespace dist;

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

bool Cuts::add(int64_t stride) {
  if (stride == 1 || stride == size || llvm::is_contained(strides, stride))
    return true;
  if (stride <= 0 || size % stride != 0)
    return false;
  auto *next = llvm::lower_bound(strides, stride);
  if (next != strides.end() && *next % stride != 0)
    return false;
  if (next != strides.begin() && stride % *(next - 1) != 0)
    return false;
  strides.insert(next, stride);
  return true;
}

Atoms Cuts::getAtoms() const {
  Atoms atoms;
  int64_t outer = size;
  for (int64_t stride : llvm::reverse(strides)) {
    atoms.push_back(outer / stride);
    outer = stride;
  }
  atoms.push_back(outer);
  return atoms;
}

//===----------------------------------------------------------------------===//
// FactorSplits
//===----------------------------------------------------------------------===//

/// A dimension joins a factor only where the op can be written with it split.
static bool joinsIfSplittable(Operation *op, unsigned factor) {
  auto splittable = dyn_cast<SplittableOpInterface>(op);
  return splittable && splittable.isSplittable(factor);
}

FactorSplits::FactorSplits(ModuleOp module)
    : classes(module, joinsIfSplittable) {
  initialize(module);
  isMerged.assign(classes.getComposites().size(), false);
  for (auto [index, composite] : llvm::enumerate(classes.getComposites()))
    isMerged[index] = !isa<SplittableOpInterface>(composite.op);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t index = 0; index < isMerged.size(); ++index)
      if (!isMerged[index])
        changed |= exchange(index);
  }
}

void FactorSplits::initialize(ModuleOp module) {
  cuts.resize(classes.getNumClasses());
  isPinned.assign(classes.getNumClasses(), false);
  auto setSizes = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (auto [dim, size] : llvm::enumerate(type.getShape()))
        cuts[classes.getClass(value, dim)] = Cuts(size);
  };
  module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), setSizes);
    llvm::for_each(op->getResults(), setSizes);
    const ShardingRule *rule = classes.lookupRule(op);
    if (!rule)
      return;
    for (auto [index, factor] : llvm::enumerate(rule->factors)) {
      unsigned id = classes.getFactorClass(op, index);
      if (!joinsIfSplittable(op, index)) {
        cuts[id] = Cuts(factor.size);
        isPinned[id] = true;
      } else if (cuts[id].getSize() != factor.size) {
        cuts[id] = Cuts(factor.size); // in composites only
      }
    }
  });
}

/// Sizes of the elements of `composite` and, per factor, the stride below it.
static SmallVector<int64_t> getStrides(ArrayRef<Cuts> cuts,
                                       ArrayRef<unsigned> classesOfFactors) {
  SmallVector<int64_t> strides(classesOfFactors.size());
  int64_t stride = 1;
  for (size_t i = classesOfFactors.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= cuts[classesOfFactors[i]].getSize();
  }
  return strides;
}

bool FactorSplits::pushUp(const FactorClasses::Composite &composite,
                          bool &fits) {
  Cuts &whole = cuts[classes.getClass(composite.node)];
  Cuts before = whole;
  auto ids = llvm::map_to_vector(
      composite.factors, [&](unsigned node) { return classes.getClass(node); });
  SmallVector<int64_t> strides = getStrides(cuts, ids);
  for (auto [id, stride] : llvm::zip_equal(ids, strides)) {
    fits &= whole.add(stride);
    for (int64_t inner : cuts[id].getStrides())
      fits &= whole.add(inner * stride);
  }
  if (!fits)
    whole = before;
  return whole.getStrides().size() != before.getStrides().size();
}

bool FactorSplits::pushDown(const FactorClasses::Composite &composite,
                            bool &fits) {
  bool changed = false;
  auto ids = llvm::map_to_vector(
      composite.factors, [&](unsigned node) { return classes.getClass(node); });
  SmallVector<int64_t> strides = getStrides(cuts, ids);
  Cuts whole = cuts[classes.getClass(composite.node)];
  for (int64_t cut : whole.getStrides())
    for (auto [id, stride] : llvm::zip_equal(ids, strides)) {
      int64_t size = cuts[id].getSize();
      if (cut <= stride || cut >= stride * size)
        continue;
      size_t before = cuts[id].getStrides().size();
      fits &= cut % stride == 0 && !isPinned[id] && cuts[id].add(cut / stride);
      changed |= cuts[id].getStrides().size() != before;
    }
  return changed;
}

bool FactorSplits::exchange(unsigned index) {
  const FactorClasses::Composite &composite = classes.getComposites()[index];
  bool fits = true;
  bool changed = pushUp(composite, fits);
  if (fits)
    changed |= pushDown(composite, fits);
  if (fits)
    return changed;
  merge(index);
  return true;
}

/// A merging rearrange will stand in front.
void FactorSplits::merge(unsigned index) {
  const FactorClasses::Composite &composite = classes.getComposites()[index];
  isMerged[index] = true;
  if (!cast<SplittableOpInterface>(composite.op).splitsTensorsAlike())
    return;
  auto [first, last] = classes.getCompositesOf(composite.op);
  for (unsigned other = first; other < last; ++other)
    if (classes.getComposites()[other].dim == composite.dim)
      isMerged[other] = true;
}

FactorSplit FactorSplits::getSplit(Operation *op) const {
  const ShardingRule &rule = *classes.lookupRule(op);
  FactorSplit split;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
    split.factors.push_back(
        cuts[classes.getFactorClass(op, factor)].getAtoms());
  for (const auto *tensors : {&rule.operands, &rule.results})
    for (const ShardingRule::Dims &dims : *tensors)
      split.keepsGroup.emplace_back(dims.size(), false);
  auto [first, last] = classes.getCompositesOf(op);
  for (unsigned index = first; index < last; ++index) {
    const FactorClasses::Composite &composite = classes.getComposites()[index];
    split.keepsGroup[composite.tensor][composite.dim] = isMerged[index];
  }
  return split;
}

SmallVector<Atoms> FactorSplits::getWanted(Operation *op,
                                           const FactorSplit &split,
                                           unsigned tensor) const {
  const ShardingRule &rule = *classes.lookupRule(op);
  bool isOperand = tensor < rule.operands.size();
  const ShardingRule::Dims &dims =
      isOperand ? rule.operands[tensor]
                : rule.results[tensor - rule.operands.size()];
  SmallVector<Atoms> wanted;
  for (auto [dim, factors] : llvm::enumerate(dims)) {
    Atoms &atoms = wanted.emplace_back();
    for (unsigned factor : factors)
      llvm::append_range(atoms, split.factors[factor]);
    if (factors.empty())
      atoms.push_back(1);
    int64_t size = 1;
    for (int64_t atom : atoms)
      size *= atom;
    if (split.keepsGroup[tensor][dim])
      atoms = {size};
  }
  return wanted;
}
