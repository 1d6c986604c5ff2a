//===- StructuralOps.cpp - Ops that carry an einops pattern ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The sizes of the names of a verified op.
template <typename OpTy>
static NameSizes sizesOf(OpTy op) {
  FailureOr<NameSizes> sizes = inferNameSizes(
      op, op.getPattern(), op->getOperandTypes(), op->getResultTypes());
  assert(succeeded(sizes) && "the verifier found every size");
  return *sizes;
}

/// The pattern is the rule: names are factors.
template <typename OpTy>
static ShardingRule ruleOf(OpTy op, Monoid monoid = Monoid::Sum) {
  NameSizes sizes = sizesOf(op);
  ShardingRule rule;
  rule.monoid = monoid;
  llvm::StringMap<unsigned> indexOf;
  auto dimsOf = [&](TermAttr term) {
    ShardingRule::Dims dims;
    for (ArrayAttr dim : term.getDims()) {
      dims.emplace_back();
      for (auto name : dim.getAsRange<StringAttr>()) {
        auto [it, isNew] =
            indexOf.try_emplace(name.getValue(), rule.factors.size());
        if (isNew)
          rule.factors.push_back(
              {name.getValue().str(), sizes.lookup(name.getValue()), false});
        dims.back().push_back(it->second);
      }
    }
    return dims;
  };
  for (TermAttr term : op.getPattern().getOperands())
    rule.operands.push_back(dimsOf(term));
  rule.results.push_back(dimsOf(op.getPattern().getResult()));
  return rule;
}

/// Gives `op` the sizes of the names that stand in groups of its pattern: its
/// types alone may leave them open.
template <typename OpTy>
static void setSizes(OpTy op, const NameSizes &sizes) {
  auto setTerm = [&](TermAttr term) {
    for (ArrayAttr dim : term.getDims())
      if (dim.size() > 1)
        for (auto name : dim.getAsRange<StringAttr>())
          op->setAttr(name,
                      IntegerAttr::get(IntegerType::get(op.getContext(), 64),
                                       sizes.lookup(name.getValue())));
  };
  llvm::for_each(op.getPattern().getOperands(), setTerm);
  setTerm(op.getPattern().getResult());
}

/// Builds an op of type `OpTy` whose pattern maps `from` to `to`.
template <typename OpTy, typename... Kind>
static Value map(TensorBuilder &b, Value input, TermAttr from, TermAttr to,
                 Type type, const NameSizes &sizes, Kind... kind) {
  auto op = OpTy::create(b, type, kind..., b.pattern({from}, to), input);
  setSizes(op, sizes);
  return op;
}

static LogicalResult verifyHasNames(Operation *op, TermAttr term,
                                    ArrayRef<TermAttr> others,
                                    StringRef where) {
  for (StringRef name : term.getNames())
    if (llvm::none_of(others,
                      [&](TermAttr other) { return other.hasName(name); }))
      return op->emitOpError("expects the names of '")
             << term.getText() << "' in " << where << ", which lacks '" << name
             << "'";
  return success();
}

/// Checks ranks, sizes and element types.
template <typename OpTy>
static LogicalResult verifySizesAndElements(OpTy op) {
  if (failed(inferNameSizes(op, op.getPattern(), op->getOperandTypes(),
                            op->getResultTypes())))
    return failure();
  Type element = op.getType().getElementType();
  for (Type type : op->getOperandTypes())
    if (cast<RankedTensorType>(type).getElementType() != element)
      return op->emitOpError("expects operands of ")
             << element << ", as its result, but one is " << type;
  return success();
}

/// Product of the sizes of all names.
static int64_t pointsOf(const NameSizes &sizes) {
  int64_t points = 1;
  for (const auto &entry : sizes)
    points *= entry.second;
  return points;
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

LogicalResult EinsumOp::verify() {
  if (failed(verifyHasNames(*this, getPattern().getResult(),
                            getPattern().getOperands(), "an operand"))) // C1
    return failure();
  return verifySizesAndElements(*this); // C1, C2, C3
}

ShardingRule EinsumOp::getShardingRule() { return ruleOf(*this); }

Linearity EinsumOp::getLinearity(unsigned) { return Linearity::Alone; }

/// `term` without the names that no term of `others` has; their dimensions
/// stay, as unit dimensions where nothing is left.
static TermAttr keepNamesOf(TermAttr term, ArrayRef<TermAttr> others) {
  SmallVector<ArrayAttr> dims;
  for (ArrayAttr dim : term.getDims()) {
    SmallVector<Attribute> names;
    for (auto name : dim.getAsRange<StringAttr>())
      if (llvm::any_of(others, [&](TermAttr other) {
            return other.hasName(name.getValue());
          }))
        names.push_back(name);
    dims.push_back(ArrayAttr::get(term.getContext(), names));
  }
  return TermAttr::get(term.getContext(), dims);
}

/// The tensor type of `term`.
static RankedTensorType typeOf(TermAttr term, const NameSizes &sizes,
                               Type element) {
  SmallVector<int64_t> shape;
  for (ArrayAttr dim : term.getDims()) {
    shape.push_back(1);
    for (auto name : dim.getAsRange<StringAttr>())
      shape.back() *= sizes.lookup(name.getValue());
  }
  return RankedTensorType::get(shape, element);
}

/// The cotangent of operand `index`: the einsum of `dy` and the other operands,
/// repeated over the names that only this operand has (a sum over them).
static Value buildOperandVjp(TensorBuilder &b, EinsumOp op, unsigned index,
                             Value dy, const NameSizes &sizes) {
  SmallVector<TermAttr> terms{op.getPattern().getResult()};
  SmallVector<Value> operands{dy};
  for (auto [other, input] : llvm::enumerate(op.getInputs())) {
    if (other == index)
      continue;
    terms.push_back(op.getPattern().getOperands()[other]);
    operands.push_back(input);
  }
  TermAttr term = op.getPattern().getOperands()[index];
  TermAttr kept = keepNamesOf(term, terms);
  auto type = cast<RankedTensorType>(op.getInputs()[index].getType());
  Type keptType =
      kept == term ? type : typeOf(kept, sizes, type.getElementType());
  Value product;
  if (operands.size() == 1) {
    product = map<RearrangeOp>(b, dy, terms[0], kept, keptType, sizes);
  } else {
    auto einsum =
        EinsumOp::create(b, keptType, b.pattern(terms, kept), operands);
    setSizes(einsum, sizes);
    product = einsum;
  }
  if (kept == term)
    return product;
  return map<RepeatOp>(b, product, kept, term, type, sizes);
}

FailureOr<SmallVector<Value>> EinsumOp::buildVjp(OpBuilder &builder,
                                                 ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  NameSizes sizes = sizesOf(*this);
  SmallVector<Value> grads;
  for (unsigned index = 0; index < getInputs().size(); ++index)
    grads.push_back(buildOperandVjp(b, *this, index, cotangents[0], sizes));
  return grads;
}

int64_t EinsumOp::getFlops() {
  NameSizes sizes = sizesOf(*this);
  bool isSum = sizes.size() > getPattern().getResult().getNames().size();
  return pointsOf(sizes) * (int64_t(getInputs().size()) - 1 + isSum);
}

//===----------------------------------------------------------------------===//
// Rearrange
//===----------------------------------------------------------------------===//

LogicalResult RearrangeOp::verify() {
  PatternAttr pattern = getPattern();
  ArrayRef<TermAttr> operands = pattern.getOperands();
  if (failed(verifyHasNames(*this, pattern.getResult(), operands,
                            "the operand"))) // C1
    return failure();
  for (TermAttr term : operands)
    if (failed(verifyHasNames(*this, term, {pattern.getResult()},
                              "the result"))) // C1
      return failure();
  return verifySizesAndElements(*this); // C2, C3
}

ShardingRule RearrangeOp::getShardingRule() { return ruleOf(*this); }

Linearity RearrangeOp::getLinearity(unsigned) { return Linearity::Alone; }

FailureOr<SmallVector<Value>> RearrangeOp::buildVjp(OpBuilder &builder,
                                                    ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{map<RearrangeOp>(
      b, cotangents[0], getPattern().getResult(), getPattern().getOperands()[0],
      getInput().getType(), sizesOf(*this))};
}

int64_t RearrangeOp::getFlops() { return 0; }

/// The dimensions of `term` as sizes: what is left of it when names do not
/// matter.
static SmallVector<SmallVector<int64_t>> sizesOfDims(TermAttr term,
                                                     const NameSizes &sizes) {
  SmallVector<SmallVector<int64_t>> dims;
  for (ArrayAttr dim : term.getDims()) {
    dims.emplace_back();
    for (auto name : dim.getAsRange<StringAttr>())
      dims.back().push_back(sizes.lookup(name.getValue()));
  }
  return dims;
}

/// Returns true if `second` undoes `first`, whose result it takes.
static bool isInverse(RearrangeOp first, RearrangeOp second) {
  TermAttr from = first.getPattern().getOperands()[0],
           middle = first.getPattern().getResult(),
           middle2 = second.getPattern().getOperands()[0],
           to = second.getPattern().getResult();
  NameSizes sizes = sizesOf(first), sizes2 = sizesOf(second);
  if (sizesOfDims(middle, sizes) != sizesOfDims(middle2, sizes2) ||
      sizesOfDims(from, sizes) != sizesOfDims(to, sizes2))
    return false;
  llvm::StringMap<StringRef> renamed;
  for (auto [name, name2] :
       llvm::zip_equal(middle.getNames(), middle2.getNames()))
    renamed[name] = name2;
  return llvm::all_of(
      llvm::zip_equal(from.getNames(), to.getNames()), [&](auto names) {
        return renamed.lookup(std::get<0>(names)) == std::get<1>(names);
      });
}

OpFoldResult RearrangeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType() &&
      getPattern().getOperands()[0] == getPattern().getResult())
    return getInput();
  auto first = getInput().getDefiningOp<RearrangeOp>();
  if (first && first.getInput().getType() == getType() &&
      isInverse(first, *this))
    return first.getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// Repeat
//===----------------------------------------------------------------------===//

LogicalResult RepeatOp::verify() {
  for (TermAttr term : getPattern().getOperands())
    if (failed(verifyHasNames(*this, term, {getPattern().getResult()},
                              "the result"))) // C1
      return failure();
  return verifySizesAndElements(*this); // C2, C3
}

ShardingRule RepeatOp::getShardingRule() { return ruleOf(*this); }

Linearity RepeatOp::getLinearity(unsigned) { return Linearity::Alone; }

FailureOr<SmallVector<Value>> RepeatOp::buildVjp(OpBuilder &builder,
                                                 ValueRange cotangents) {
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{map<ReduceOp>(
      b, cotangents[0], getPattern().getResult(), getPattern().getOperands()[0],
      getInput().getType(), sizesOf(*this), ReduceKind::Sum)};
}

int64_t RepeatOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (failed(verifyHasNames(*this, getPattern().getResult(),
                            getPattern().getOperands(), "the operand"))) // C1
    return failure();
  if (failed(verifySizesAndElements(*this))) // C2, C3
    return failure();
  if (getKind() == ReduceKind::Mean &&
      !isa<FloatType>(getType().getElementType())) // C3
    return emitOpError("expects floats for a mean, but the operand is ")
           << getInput().getType();
  return success();
}

ShardingRule ReduceOp::getShardingRule() {
  switch (getKind()) {
  case ReduceKind::Max:
    return ruleOf(*this, Monoid::Max);
  case ReduceKind::Min:
    return ruleOf(*this, Monoid::Min);
  case ReduceKind::Sum:
  case ReduceKind::Mean: // is decomposed into a sum before it is sharded
    return ruleOf(*this, Monoid::Sum);
  }
  llvm_unreachable("all kinds are handled");
}

Linearity ReduceOp::getLinearity(unsigned) {
  return getKind() == ReduceKind::Sum || getKind() == ReduceKind::Mean
             ? Linearity::Alone
             : Linearity::No;
}

/// `sum` over the number of elements that `op` brings together: a division,
/// since the count is exact in any precision and its inverse is not.
static Value divideByCount(TensorBuilder &b, Value sum, ReduceOp op) {
  int64_t count = op.getInput().getType().getNumElements() /
                  std::max<int64_t>(op.getType().getNumElements(), 1);
  return b.div(sum, b.constant(sum.getType(), double(count)));
}

bool ReduceOp::isComposite() { return getKind() == ReduceKind::Mean; }

SmallVector<Value> ReduceOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Value input = b.widen(getInput());
  Type wide = getType().clone(getElementTypeOrSelf(input));
  Value sum = map<ReduceOp>(b, input, getPattern().getOperands()[0],
                            getPattern().getResult(), wide, sizesOf(*this),
                            ReduceKind::Sum);
  return {b.narrow(divideByCount(b, sum, *this), getType())};
}

/// The cotangent of a maximum or minimum: `dy` shared among the ties. Their
/// number is a sum, so it counts those of all shards.
static Value buildExtremeVjp(TensorBuilder &b, ReduceOp op, Value dy) {
  NameSizes sizes = sizesOf(op);
  TermAttr whole = op.getPattern().getOperands()[0];
  TermAttr reduced = op.getPattern().getResult();
  auto type = op.getInput().getType();
  auto repeat = [&](Value a) {
    return map<RepeatOp>(b, a, reduced, whole, type, sizes);
  };
  Value isExtreme = b.equal(op.getInput(), repeat(op.getResult()));
  Value wideDy = b.widen(dy);
  Type wide = type.clone(getElementTypeOrSelf(wideDy));
  Value count = map<ReduceOp>(b, b.toFloat(isExtreme, wide), whole, reduced,
                              wideDy.getType(), sizes, ReduceKind::Sum);
  Value share = b.narrow(b.div(wideDy, count), dy.getType());
  return b.select(isExtreme, repeat(share), b.zeros(type));
}

FailureOr<SmallVector<Value>> ReduceOp::buildVjp(OpBuilder &builder,
                                                 ValueRange cotangents) {
  if (!isa<FloatType>(getType().getElementType()))
    return SmallVector<Value>{Value()};
  TensorBuilder b(builder, getLoc());
  Value dy = cotangents[0];
  if (getKind() == ReduceKind::Max || getKind() == ReduceKind::Min)
    return SmallVector<Value>{buildExtremeVjp(b, *this, dy)};
  if (getKind() == ReduceKind::Mean)
    dy = b.narrow(divideByCount(b, b.widen(dy), *this), dy.getType());
  return SmallVector<Value>{map<RepeatOp>(
      b, dy, getPattern().getResult(), getPattern().getOperands()[0],
      getInput().getType(), sizesOf(*this))};
}

int64_t ReduceOp::getFlops() { return getInput().getType().getNumElements(); }
