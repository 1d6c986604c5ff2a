//===- ExposeFactors.cpp - Factors become dimensions ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/FactorSplits.h"
#include "dist/Analysis/NaturalShardings.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "dist/Transforms/Passes.h"
#include "dist/Transforms/SignatureAttrs.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/InterleavedRange.h"

namespace dist {
#define GEN_PASS_DEF_EXPOSEFACTORS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// `d0 d1 (d2 d3)`: how logical dimensions are spelt.
static std::string getLogicalText(MLIRContext *context, ArrayRef<Atoms> atoms) {
  SmallVector<ArrayAttr> dims;
  unsigned next = 0;
  for (const Atoms &group : atoms) {
    SmallVector<Attribute> names;
    for (size_t i = 0; i < group.size(); ++i)
      names.push_back(StringAttr::get(context, "d" + std::to_string(next++)));
    dims.push_back(ArrayAttr::get(context, names));
  }
  return nn::TermAttr::get(context, dims).getText();
}

static Atoms dropUnits(const Atoms &atoms) {
  Atoms rest;
  for (int64_t atom : atoms)
    if (atom != 1)
      rest.push_back(atom);
  return rest;
}

/// The terms that turn dimensions spelt as `before` into `after`, where each
/// dimension is merged, split, or keeps its atoms up to units.
static std::pair<nn::TermAttr, nn::TermAttr>
getTerms(MLIRContext *context, ArrayRef<Atoms> before, ArrayRef<Atoms> after) {
  SmallVector<ArrayAttr> lhs, rhs;
  unsigned next = 0;
  for (auto [a, b] : llvm::zip_equal(before, after)) {
    const Atoms fine = dropUnits(a).size() > dropUnits(b).size() ? a : b;
    SmallVector<Attribute> names;
    for (int64_t atom : fine)
      if (atom != 1)
        names.push_back(StringAttr::get(context, "d" + std::to_string(next++)));
    auto spell = [&](const Atoms &atoms, SmallVector<ArrayAttr> &dims) {
      if (dropUnits(atoms).size() < names.size()) {
        dims.push_back(ArrayAttr::get(context, names));
        return;
      }
      auto name = names.begin();
      for (int64_t atom : atoms)
        dims.push_back(atom == 1 ? ArrayAttr::get(context, {})
                                 : ArrayAttr::get(context, {*name++}));
    };
    spell(a, lhs);
    spell(b, rhs);
  }
  return {nn::TermAttr::get(context, lhs), nn::TermAttr::get(context, rhs)};
}

static RankedTensorType getSpelt(Type type, ArrayRef<Atoms> atoms) {
  SmallVector<int64_t> shape;
  for (const Atoms &group : atoms)
    llvm::append_range(shape, group);
  return RankedTensorType::get(shape,
                               cast<RankedTensorType>(type).getElementType());
}

namespace {
/// Rewrites a module so that every dimension is spelt as its class is split.
class Rewriter {
public:
  Rewriter(ModuleOp module, const FactorSplits &splits)
      : module(module), splits(splits) {}

  LogicalResult run();

private:
  SmallVector<Atoms> getAtoms(Value value) const;
  Type getSpeltType(Value value) const;
  LogicalResult rewriteFunction(func::FuncOp func);
  LogicalResult rewriteOp(Operation *op, OpBuilder &builder);
  LogicalResult rewriteConstraint(ConstraintOp op, OpBuilder &builder);
  /// Rewrites what the user asked of an argument for its spelt dimensions.
  LogicalResult spellWish(func::FuncOp func, BlockArgument arg,
                          SignatureAttrs &attrs);
  void rewriteRuled(Operation *op, OpBuilder &builder);
  void rewriteOther(Operation *op, OpBuilder &builder);
  /// `value`, spelt as `from`, respelt as `to`.
  Value respell(OpBuilder &builder, Location loc, Value value, Type logical,
                ArrayRef<Atoms> from, ArrayRef<Atoms> to) const;
  /// How the dimensions of `value` spell logical ones, or null if they are.
  StringAttr getLogical(Value value) const;

  ModuleOp module;
  const FactorSplits &splits;
  IRMapping map;
};
} // namespace

SmallVector<Atoms> Rewriter::getAtoms(Value value) const {
  SmallVector<Atoms> atoms;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
    atoms.push_back(splits.getAtoms(value, dim));
  return atoms;
}

Type Rewriter::getSpeltType(Value value) const {
  if (!isa<RankedTensorType>(value.getType()))
    return value.getType();
  return getSpelt(value.getType(), getAtoms(value));
}

Value Rewriter::respell(OpBuilder &builder, Location loc, Value value,
                        Type logical, ArrayRef<Atoms> from,
                        ArrayRef<Atoms> to) const {
  if (from == to)
    return value;
  // Where only units differ nothing is merged; elsewhere the whole dimension
  // stands in between.
  SmallVector<Atoms> between;
  for (auto [dim, a, b] : llvm::enumerate(from, to))
    between.push_back(
        dropUnits(a) == dropUnits(b)
            ? b
            : Atoms{cast<RankedTensorType>(logical).getDimSize(dim)});
  nn::TensorBuilder b(builder, loc);
  auto regroup = [&](ArrayRef<Atoms> before, ArrayRef<Atoms> after) {
    if (before == after)
      return;
    auto [lhs, rhs] = getTerms(builder.getContext(), before, after);
    value = nn::RearrangeOp::create(b, getSpelt(logical, after),
                                    b.pattern({lhs}, rhs), value);
  };
  regroup(from, between);
  regroup(between, to);
  return value;
}

void Rewriter::rewriteRuled(Operation *op, OpBuilder &builder) {
  auto splittable = dyn_cast<SplittableOpInterface>(op);
  FactorSplit split = splits.getSplit(op);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(respell(builder, op->getLoc(), map.lookup(operand),
                               operand.getType(), getAtoms(operand),
                               splits.getWanted(op, split, index)));
  SmallVector<SmallVector<Atoms>> wanted;
  SmallVector<Type> types;
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    wanted.push_back(splits.getWanted(op, split, op->getNumOperands() + index));
    types.push_back(getSpelt(result.getType(), wanted.back()));
  }
  Operation *spelt =
      splittable ? splittable.buildSplit(builder, operands, types, split)
                 : cloneWithTypes(op, builder, operands, types);
  for (auto [result, fresh, atoms] :
       llvm::zip_equal(op->getResults(), spelt->getResults(), wanted))
    map.map(result, respell(builder, op->getLoc(), fresh, result.getType(),
                            atoms, getAtoms(result)));
}

/// The axes of each spelt dimension where `axes` split the dimension that
/// `atoms` spell; blocks of the whole are blocks of its major part.
///
///   axes          atoms   spelt
///   tp=4          4 8     [tp] []
///   tp=2          4 8     [tp] []
///   dp=2, tp=4    2 4 3   [dp] [tp] []
///   tp=4          3 8     none: a block begins inside a part
static FailureOr<SmallVector<AxesAttr>>
spellAxes(function_ref<InFlightDiagnostic()> emitError, MeshOp mesh,
          AxesAttr axes, const Atoms &atoms) {
  SmallVector<SmallVector<AxisAttr>> spelt(atoms.size());
  size_t part = 0;
  int64_t rest = atoms.front();
  for (AxisAttr axis : axes.getAxes()) {
    while (rest == 1 && part + 1 < atoms.size())
      rest = atoms[++part];
    int64_t size = mesh.getAxisSize(axis);
    if (rest % size != 0) {
      InFlightDiagnostic diag =
          emitError() << "axis " << axis.getName() << " of size " << size
                      << " does not divide the factor " << rest;
      diag.attachNote() << "the program splits this dimension into factors of "
                        << llvm::interleaved(atoms, " x ")
                        << ", major to minor; use axes that divide them in "
                           "this order";
      return diag;
    }
    spelt[part].push_back(axis);
    rest /= size;
  }
  return llvm::map_to_vector(spelt, [&](ArrayRef<AxisAttr> part) {
    return AxesAttr::get(axes.getContext(), part);
  });
}

/// `sharding`, of logical dimensions, for those that spell them.
static FailureOr<ShardingAttr>
spellSharding(function_ref<InFlightDiagnostic()> emitError, MeshOp mesh,
              ShardingAttr sharding, ArrayRef<Atoms> atoms) {
  SmallVector<AxesAttr> dims;
  for (auto [dim, axes, parts] : llvm::enumerate(sharding.getDims(), atoms)) {
    auto spelt = spellAxes(
        [&, number = dim] {
          return emitError() << "cannot split dimension " << number << ": ";
        },
        mesh, axes, parts);
    if (failed(spelt))
      return failure();
    llvm::append_range(dims, *spelt);
  }
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims);
}

LogicalResult Rewriter::rewriteConstraint(ConstraintOp op, OpBuilder &builder) {
  auto spelt =
      spellSharding([&] { return op.emitOpError(); }, lookupMesh(module),
                    op.getSharding(), getAtoms(op.getOperand()));
  if (failed(spelt))
    return failure();
  Value operand = map.lookup(op.getOperand());
  auto constraint = ConstraintOp::create(builder, op.getLoc(),
                                         operand.getType(), operand, *spelt);
  map.map(op.getResult(), constraint.getResult());
  return success();
}

LogicalResult Rewriter::spellWish(func::FuncOp func, BlockArgument arg,
                                  SignatureAttrs &attrs) {
  unsigned index = arg.getArgNumber();
  auto wish = func.getArgAttrOfType<ShardingAttr>(index, kShardingAttrName);
  if (!wish)
    return success();
  auto emitError = [&] {
    return func.emitError(describeArgument(func, index)) << ": ";
  };
  auto spelt =
      spellSharding(emitError, lookupMesh(module), wish, getAtoms(arg));
  if (failed(spelt))
    return failure();
  attrs.setArg(index, kShardingAttrName, *spelt);
  return success();
}

/// Ops without a rule: calls and returns, whose values agree by construction.
void Rewriter::rewriteOther(Operation *op, OpBuilder &builder) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(map.lookup(operand));
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(getSpeltType(result));
  Operation *spelt = cloneWithTypes(op, builder, operands, types);
  map.map(op->getResults(), spelt->getResults());
}

LogicalResult Rewriter::rewriteOp(Operation *op, OpBuilder &builder) {
  if (auto constraint = dyn_cast<ConstraintOp>(op))
    return rewriteConstraint(constraint, builder);
  if (isa<ShardingRuleOpInterface>(op))
    rewriteRuled(op, builder);
  else
    rewriteOther(op, builder);
  return success();
}

StringAttr Rewriter::getLogical(Value value) const {
  SmallVector<Atoms> atoms = getAtoms(value);
  if (llvm::all_of(atoms, [](const Atoms &a) { return a.size() == 1; }))
    return nullptr;
  MLIRContext *context = value.getContext();
  return StringAttr::get(context, getLogicalText(context, atoms));
}

LogicalResult Rewriter::rewriteFunction(func::FuncOp func) {
  Block &block = func.getBody().front();
  auto returned = llvm::to_vector(block.getTerminator()->getOperands());
  SignatureAttrs attrs(func);
  for (auto [index, arg] : llvm::enumerate(block.getArguments())) {
    if (StringAttr logical = getLogical(arg))
      attrs.setArg(index, kLogicalAttrName, logical);
    if (failed(spellWish(func, arg, attrs)))
      return failure();
  }
  for (auto [index, value] : llvm::enumerate(returned))
    if (StringAttr logical = getLogical(value))
      attrs.setResult(index, kLogicalAttrName, logical);
  attrs.write();

  auto argTypes = llvm::map_to_vector(
      block.getArguments(), [&](Value arg) { return getSpeltType(arg); });
  auto resultTypes = llvm::map_to_vector(
      returned, [&](Value value) { return getSpeltType(value); });
  auto *spelt = new Block();
  func.getBody().push_back(spelt);
  for (auto [arg, type] : llvm::zip_equal(block.getArguments(), argTypes))
    map.map(arg, spelt->addArgument(type, arg.getLoc()));
  auto builder = OpBuilder::atBlockEnd(spelt);
  LogicalResult rewritten = success();
  for (Operation &op : block)
    if (succeeded(rewritten))
      rewritten = rewriteOp(&op, builder);
  block.dropAllReferences();
  block.erase();
  func.setType(FunctionType::get(func.getContext(), argTypes, resultTypes));
  return rewritten;
}

LogicalResult Rewriter::run() {
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    if (failed(rewriteFunction(func)))
      return failure();
  return success();
}

namespace {
struct ExposeFactors : dist::impl::ExposeFactorsBase<ExposeFactors> {
  void runOnOperation() override {
    if (failed(verifyForm(getOperation())))
      return signalPassFailure();
    unshareBroadcasts(getOperation());
    FactorSplits splits(getOperation());
    if (failed(Rewriter(getOperation(), splits).run()))
      signalPassFailure();
  }
};
} // namespace
