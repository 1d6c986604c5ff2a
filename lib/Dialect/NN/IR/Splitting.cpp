//===- Splitting.cpp - Ops with a factor spelt as several dims ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

//===----------------------------------------------------------------------===//
// Ops with a pattern
//===----------------------------------------------------------------------===//

namespace {
/// Names and sizes of what each name of a pattern becomes.
class SplitNames {
public:
  SplitNames(const ShardingRule &rule, const FactorSplit &split);

  /// `term` in the new names; dimensions in `keepsGroup` stay one.
  TermAttr rewrite(TermAttr term, ArrayRef<bool> keepsGroup) const;

  /// Sizes of names that stand in a group: they cannot be read off the types.
  void setSizes(Operation *op, ArrayRef<TermAttr> terms) const;

private:
  llvm::StringMap<SmallVector<std::string>> names;
  llvm::StringMap<int64_t> sizes;
};
} // namespace

SplitNames::SplitNames(const ShardingRule &rule, const FactorSplit &split) {
  llvm::StringMap<int64_t> taken;
  for (const Factor &factor : rule.factors)
    ++taken[factor.name];
  for (auto [factor, atoms] : llvm::zip_equal(rule.factors, split.factors))
    for (auto [index, size] : llvm::enumerate(atoms)) {
      std::string name = factor.name;
      if (atoms.size() > 1) {
        name += std::to_string(index);
        while (taken.contains(name))
          name += "_";
        ++taken[name];
      }
      sizes[name] = size;
      names[factor.name].push_back(name);
    }
}

TermAttr SplitNames::rewrite(TermAttr term, ArrayRef<bool> keepsGroup) const {
  MLIRContext *context = term.getContext();
  SmallVector<ArrayAttr> dims;
  for (auto [dim, keeps] : llvm::zip_equal(term.getDims(), keepsGroup)) {
    SmallVector<Attribute> all;
    for (auto name : dim.getAsRange<StringAttr>())
      for (const std::string &part : names.lookup(name.getValue()))
        all.push_back(StringAttr::get(context, part));
    if (keeps || all.empty())
      dims.push_back(ArrayAttr::get(context, all));
    else
      for (Attribute name : all)
        dims.push_back(ArrayAttr::get(context, {name}));
  }
  return TermAttr::get(context, dims);
}

void SplitNames::setSizes(Operation *op, ArrayRef<TermAttr> terms) const {
  Builder b(op->getContext());
  for (TermAttr term : terms)
    for (ArrayAttr dim : term.getDims())
      for (auto name : dim.getAsRange<StringAttr>())
        if (dim.size() > 1)
          op->setDiscardableAttr(
              name, b.getI64IntegerAttr(sizes.lookup(name.getValue())));
}

/// The pattern op `op` on split operands.
static Operation *splitPattern(ShardingRuleOpInterface op, PatternAttr pattern,
                               OpBuilder &builder, ValueRange operands,
                               TypeRange types, const FactorSplit &split) {
  SplitNames names(op.getShardingRule(), split);
  SmallVector<TermAttr> terms;
  for (auto [term, keeps] : llvm::zip(pattern.getOperands(), split.keepsGroup))
    terms.push_back(names.rewrite(term, keeps));
  TermAttr result = names.rewrite(pattern.getResult(), split.keepsGroup.back());
  Operation *copy = cloneWithTypes(op, builder, operands, types);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!attr.getName().strref().contains('.'))
      copy->removeDiscardableAttr(attr.getName());
  copy->setAttr("pattern", PatternAttr::get(op->getContext(), terms, result));
  terms.push_back(result);
  names.setSizes(copy, terms);
  return copy;
}

Operation *EinsumOp::buildSplit(OpBuilder &builder, ValueRange operands,
                                TypeRange types, const FactorSplit &split) {
  return splitPattern(*this, getPattern(), builder, operands, types, split);
}

Operation *RearrangeOp::buildSplit(OpBuilder &builder, ValueRange operands,
                                   TypeRange types, const FactorSplit &split) {
  return splitPattern(*this, getPattern(), builder, operands, types, split);
}

Operation *RepeatOp::buildSplit(OpBuilder &builder, ValueRange operands,
                                TypeRange types, const FactorSplit &split) {
  return splitPattern(*this, getPattern(), builder, operands, types, split);
}

Operation *ReduceOp::buildSplit(OpBuilder &builder, ValueRange operands,
                                TypeRange types, const FactorSplit &split) {
  return splitPattern(*this, getPattern(), builder, operands, types, split);
}

//===----------------------------------------------------------------------===//
// Ops on one dimension
//===----------------------------------------------------------------------===//

/// Sizes that dimension `dim` of an operand or, behind those, result `tensor`
/// becomes.
static Atoms getAtoms(const ShardingRule &rule, unsigned tensor, unsigned dim,
                      const FactorSplit &split) {
  bool isOperand = tensor < rule.operands.size();
  const ShardingRule::Dims &dims =
      isOperand ? rule.operands[tensor]
                : rule.results[tensor - rule.operands.size()];
  Atoms atoms;
  for (unsigned factor : dims[dim])
    llvm::append_range(atoms, split.factors[factor]);
  if (!split.keepsGroup[tensor][dim])
    return atoms;
  int64_t size = 1;
  for (int64_t atom : atoms)
    size *= atom;
  return {size};
}

Operation *IotaOp::buildSplit(OpBuilder &builder, ValueRange operands,
                              TypeRange types, const FactorSplit &split) {
  ShardingRule rule = getShardingRule();
  int64_t dim = 0;
  for (int64_t d = 0; d < int64_t(getDim()); ++d)
    dim += getAtoms(rule, rule.operands.size(), d, split).size();
  auto copy = cast<IotaOp>(cloneWithTypes(*this, builder, operands, types));
  copy.setDim(dim);
  return copy;
}

bool IotaOp::isSplittable(unsigned factor) {
  // Positions count along the whole dimension.
  return !ShardingRule::contains({getShardingRule().results.front()[getDim()]},
                                 factor);
}

Operation *ConcatOp::buildSplit(OpBuilder &builder, ValueRange operands,
                                TypeRange types, const FactorSplit &split) {
  ShardingRule rule = getShardingRule();
  int64_t dim = 0;
  for (int64_t d = 0; d < int64_t(getDim()); ++d)
    dim += getAtoms(rule, rule.operands.size(), d, split).size();
  auto copy = cast<ConcatOp>(cloneWithTypes(*this, builder, operands, types));
  copy.setDim(dim);
  return copy;
}

bool nn::SliceOp::splitsTensorsAlike() { return true; }
bool PadOp::splitsTensorsAlike() { return true; }
bool ConcatOp::splitsTensorsAlike() { return true; }

/// Spreads the numbers that there are per dimension of operand 0: a dimension
/// that is cut at multiples of its inner part has them, divided by that, on its
/// outermost dimension and `inner(size)` on the others.
static SmallVector<int64_t> spread(ArrayRef<int64_t> values,
                                   const ShardingRule &rule,
                                   const FactorSplit &split,
                                   llvm::function_ref<int64_t(int64_t)> inner,
                                   bool scales) {
  SmallVector<int64_t> result;
  for (auto [dim, value] : llvm::enumerate(values)) {
    Atoms atoms = getAtoms(rule, /*tensor=*/0, dim, split);
    int64_t below = 1;
    for (int64_t atom : ArrayRef(atoms).drop_front())
      below *= atom;
    result.push_back(scales ? value / below : value);
    for (int64_t atom : ArrayRef(atoms).drop_front())
      result.push_back(inner(atom));
  }
  return result;
}

Operation *nn::SliceOp::buildSplit(OpBuilder &builder, ValueRange operands,
                                   TypeRange types, const FactorSplit &split) {
  ShardingRule rule = getShardingRule();
  auto copy = cast<SliceOp>(cloneWithTypes(*this, builder, operands, types));
  copy.setStarts(spread(
      getStarts(), rule, split, [](int64_t) { return 0; }, /*scales=*/true));
  copy.setLimits(spread(
      getLimits(), rule, split, [](int64_t size) { return size; },
      /*scales=*/true));
  copy.setStrides(spread(
      getStrides(), rule, split, [](int64_t) { return 1; }, /*scales=*/false));
  return copy;
}

Operation *PadOp::buildSplit(OpBuilder &builder, ValueRange operands,
                             TypeRange types, const FactorSplit &split) {
  ShardingRule rule = getShardingRule();
  auto zero = [](int64_t) { return 0; };
  auto copy = cast<PadOp>(cloneWithTypes(*this, builder, operands, types));
  copy.setLow(spread(getLow(), rule, split, zero, /*scales=*/true));
  copy.setHigh(spread(getHigh(), rule, split, zero, /*scales=*/true));
  if (getInterior())
    copy.setInterior(
        spread(*getInterior(), rule, split, zero, /*scales=*/false));
  return copy;
}

//===----------------------------------------------------------------------===//
// Ops that take any number of dimensions in places
//===----------------------------------------------------------------------===//

/// Rows are looked up along one dimension of the table.
bool EmbeddingOp::isSplittable(unsigned factor) {
  return !ShardingRule::contains({getShardingRule().operands.front().front()},
                                 factor);
}

bool EmbeddingGradOp::isSplittable(unsigned factor) {
  return !ShardingRule::contains({getShardingRule().results.front().front()},
                                 factor);
}

/// Heads may be groups of heads; the other dimensions are as they are.
bool RopeOp::isSplittable(unsigned factor) {
  return getInput().getType().getRank() == 4 &&
         getShardingRule().operands.front()[1].front() == factor;
}

/// An attention with grouped heads becomes one on `b g r s d`; nothing else
/// about it splits.
bool AttentionOp::isSplittable(unsigned) { return false; }
bool AttentionGradOp::isSplittable(unsigned) { return false; }
