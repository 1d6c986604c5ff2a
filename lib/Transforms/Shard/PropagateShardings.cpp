//===- PropagateShardings.cpp - A sharding for every tensor ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/NaturalShardings.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"

namespace dist {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// `type` under `sharding`.
static RankedTensorType withSharding(Type type, ShardingAttr sharding) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               sharding);
}

/// Functions so that a callee comes before its callers.
static SmallVector<func::FuncOp> getCalleesFirst(ModuleOp module) {
  SmallVector<func::FuncOp> order;
  llvm::DenseSet<Operation *> seen;
  std::function<void(func::FuncOp)> visit = [&](func::FuncOp func) {
    if (!seen.insert(func).second)
      return;
    func.walk([&](func::CallOp call) {
      visit(module.lookupSymbol<func::FuncOp>(call.getCallee()));
    });
    order.push_back(func);
  };
  for (auto func : module.getOps<func::FuncOp>())
    visit(func);
  return order;
}

namespace {
/// Writes shardings into the types of a module, op by op in program order, and
/// a `dist.reshard` wherever a value is not as its user wants it.
class Propagation {
public:
  Propagation(ModuleOp module, MeshOp mesh, const FactorClasses &classes,
              const NaturalShardings &natural, int64_t zero)
      : module(module), mesh(mesh), classes(classes), natural(natural),
        zero(zero) {}

  LogicalResult run();

private:
  using FactorAxes = SmallVector<SmallVector<AxisAttr>>;

  LogicalResult wishEntry(func::FuncOp entry);
  LogicalResult wishArgument(func::FuncOp entry, unsigned index);
  void wishStorage(func::FuncOp entry);
  ShardingAttr addStorageAxes(BlockArgument param, ShardingAttr sharding);

  LogicalResult visit(func::FuncOp func, bool isEntry);
  LogicalResult visit(Operation *op);
  void visitRuled(Operation *op, const ShardingRule &rule);
  void visitVaried(arith::ConstantOp op);
  void visitCall(func::CallOp call);
  LogicalResult visitConstraint(ConstraintOp op);
  void visitReturn(func::ReturnOp op, bool isEntry);

  FactorAxes chooseAxes(Operation *op, const ShardingRule &rule);
  SmallVector<AxisAttr> chooseFactor(Operation *op, const ShardingRule &rule,
                                     unsigned factor);
  ShardingAttr getSharding(const ShardingRule::Dims &dims,
                           const FactorAxes &axes);
  AxesAttr getPartial(const ShardingRule &rule, const ShardingRule::Dims &dims,
                      const FactorAxes &axes);
  void setResult(Operation *op, OpResult result, ShardingAttr sharding);
  /// Makes `operand` be of `sharding`, by a reshard if it is not.
  void demand(OpOperand &operand, ShardingAttr sharding);
  ShardingAttr getWhole(Type type);

  ModuleOp module;
  MeshOp mesh;
  const FactorClasses &classes;
  const NaturalShardings &natural;
  int64_t zero;
  llvm::DenseMap<Value, ShardingAttr> wishes;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> reshards;
};
} // namespace

//===----------------------------------------------------------------------===//
// Wishes: what the user, the plan and the classes want of arguments
//===----------------------------------------------------------------------===//

ShardingAttr Propagation::getWhole(Type type) {
  SmallVector<AxesAttr> dims(cast<RankedTensorType>(type).getRank(),
                             AxesAttr::get(type.getContext(), {}));
  return ShardingAttr::get(type.getContext(),
                           FlatSymbolRefAttr::get(mesh.getSymNameAttr()), dims);
}

LogicalResult Propagation::wishArgument(func::FuncOp entry, unsigned index) {
  auto asked = entry.getArgAttrOfType<ShardingAttr>(index, kShardingAttrName);
  BlockArgument arg = entry.getArgument(index);
  wishes[arg] = asked ? asked : natural.getSharding(arg);
  for (auto [dim, axes] : llvm::enumerate(wishes[arg].getDims())) {
    int64_t size = cast<RankedTensorType>(arg.getType()).getDimSize(dim);
    int64_t count = mesh.getGroupSize(axes.getAxes());
    if (size % count == 0)
      continue;
    InFlightDiagnostic diag = entry.emitError(describeArgument(entry, index))
                              << ": dimension " << dim << " of size " << size
                              << " does not divide over the " << count
                              << " devices of its sharding";
    diag.attachNote() << "use axes whose size divides " << size;
    return diag;
  }
  return success();
}

/// Adds the axes of ZeRO storage to the first dimension of `param` that they
/// divide; none, with a remark, if there is none.
ShardingAttr Propagation::addStorageAxes(BlockArgument param,
                                         ShardingAttr sharding) {
  MLIRContext *context = module.getContext();
  auto dp = AxisAttr::get(context, StringAttr::get(context, "dp"));
  auto type = cast<RankedTensorType>(param.getType());
  SmallVector<AxesAttr> dims(sharding.getDims());
  for (AxesAttr dim : dims)
    for (AxisAttr axis : dim.getAxes())
      if (overlap(axis, dp))
        return sharding;
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    int64_t local = getLocalSize(mesh, type.getDimSize(dim), axes.getAxes());
    if (local % mesh.getAxisSize(dp) != 0)
      continue;
    SmallVector<AxisAttr> all(axes.getAxes());
    all.push_back(dp);
    dims[dim] = AxesAttr::get(context, all);
    return ShardingAttr::get(context, sharding.getMesh(), dims);
  }
  remark::missed(param.getLoc(),
                 remark::RemarkOpts::name("ZeroStorage").category("sharding"))
      << "no dimension divides over dp; the optimizer state stays whole";
  return sharding;
}

/// ZeRO-1: states, and the gradients that update them, are stored over `dp`.
void Propagation::wishStorage(func::FuncOp entry) {
  if (zero < 1 || !mesh.hasAxis("dp") ||
      mesh.getAxisSize(AxisAttr::get(
          module.getContext(), StringAttr::get(module.getContext(), "dp"))) ==
          1)
    return;
  llvm::StringMap<ShardingAttr> storageOf;
  for (BlockArgument arg : entry.getArguments())
    if (auto name = entry.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                       nn::kParamAttrName))
      storageOf[name.getValue()] = addStorageAxes(arg, wishes[arg]);
  for (BlockArgument arg : entry.getArguments())
    if (auto state = entry.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                        nn::kStateAttrName)) {
      StringRef param = state.getValue().split(':').second;
      if (ShardingAttr storage = storageOf.lookup(param))
        wishes[arg] = storage;
    }
  Operation *ret = entry.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands())
    if (auto name = entry.getResultAttrOfType<StringAttr>(
            operand.getOperandNumber(), nn::kGradAttrName))
      wishes[operand.get()] = storageOf.lookup(name.getValue());
}

LogicalResult Propagation::wishEntry(func::FuncOp entry) {
  for (unsigned index = 0; index < entry.getNumArguments(); ++index)
    if (isa<RankedTensorType>(entry.getArgumentTypes()[index]))
      if (failed(wishArgument(entry, index)))
        return failure();
  wishStorage(entry);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with a rule
//===----------------------------------------------------------------------===//

/// The axes that an operand's type puts on `factor`, or none where the factor
/// shares its dimension.
static ArrayRef<AxisAttr>
getOperandAxes(Value operand, const ShardingRule::Dims &dims, unsigned factor) {
  ShardingAttr sharding = getSharding(operand.getType());
  for (auto [dim, factors] : llvm::enumerate(dims))
    if (factors.size() == 1 && factors.front() == factor && sharding)
      return sharding.getDims()[dim].getAxes();
  return {};
}

/// The operands' finest split of `factor` wins: slicing a replicated operand
/// is free. A factor of results alone is split as its class is.
SmallVector<AxisAttr> Propagation::chooseFactor(Operation *op,
                                                const ShardingRule &rule,
                                                unsigned factor) {
  auto isGrouped = [&](const ShardingRule::Dims &dims) {
    return llvm::any_of(dims, [&](const auto &factors) {
      return factors.size() > 1 && llvm::is_contained(factors, factor);
    });
  };
  if (rule.factors[factor].isWhole || llvm::any_of(rule.operands, isGrouped) ||
      llvm::any_of(rule.results, isGrouped))
    return {};
  bool isInOperand = false;
  ArrayRef<AxisAttr> best;
  for (auto [operand, dims] :
       llvm::zip_equal(op->getOperands(), rule.operands)) {
    isInOperand |= ShardingRule::contains(dims, factor);
    ArrayRef<AxisAttr> axes = getOperandAxes(operand, dims, factor);
    if (mesh.getGroupSize(axes) > mesh.getGroupSize(best))
      best = axes;
  }
  if (!isInOperand)
    best = natural.getAxes(classes.getFactorClass(op, factor));
  return SmallVector<AxisAttr>(best);
}

Propagation::FactorAxes Propagation::chooseAxes(Operation *op,
                                                const ShardingRule &rule) {
  FactorAxes axes;
  SmallVector<AxisAttr> used;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    SmallVector<AxisAttr> &mine = axes.emplace_back();
    for (AxisAttr axis : chooseFactor(op, rule, factor)) {
      if (llvm::any_of(used, [&](AxisAttr a) { return overlap(a, axis); }))
        break;
      mine.push_back(axis);
    }
    llvm::append_range(used, mine);
  }
  return axes;
}

ShardingAttr Propagation::getSharding(const ShardingRule::Dims &dims,
                                      const FactorAxes &axes) {
  MLIRContext *context = module.getContext();
  SmallVector<AxesAttr> lists;
  for (const auto &factors : dims)
    lists.push_back(AxesAttr::get(
        context, factors.size() == 1 ? ArrayRef<AxisAttr>(axes[factors.front()])
                                     : ArrayRef<AxisAttr>()));
  return ShardingAttr::get(
      context, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), lists);
}

AxesAttr Propagation::getPartial(const ShardingRule &rule,
                                 const ShardingRule::Dims &dims,
                                 const FactorAxes &axes) {
  SmallVector<AxisAttr> partial;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
    if (!ShardingRule::contains(dims, factor))
      llvm::append_range(partial, axes[factor]);
  llvm::sort(partial, [&](AxisAttr a, AxisAttr b) {
    auto position = [&](AxisAttr axis) {
      return std::pair(llvm::find(mesh.getAxes(), axis.getName()) -
                           mesh.getAxes().begin(),
                       axis.getPre());
    };
    return position(a) < position(b);
  });
  return AxesAttr::get(module.getContext(), partial);
}

/// Sets the type of `result`; what it owes is resolved at once, and a wish for
/// it is granted.
void Propagation::setResult(Operation *op, OpResult result,
                            ShardingAttr sharding) {
  result.setType(withSharding(result.getType(), sharding));
  ShardingAttr wish = wishes.lookup(result);
  if (!wish)
    wish = sharding.dropPartial();
  if (wish == sharding)
    return;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  auto reshard = ReshardOp::create(
      builder, op->getLoc(), withSharding(result.getType(), wish), result);
  result.replaceAllUsesExcept(reshard, reshard);
}

/// The axes of a constant, of positions or of a broadcast scalar follow its
/// only user.
static bool followsUser(Operation *op) {
  if (!op || !op->hasOneUse())
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    return repeat.getInput().getType().getRank() == 0;
  return isa<nn::IotaOp>(op);
}

static void retype(Operation *op, RankedTensorType type) {
  op->getResult(0).setType(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    constant.setValueAttr(
        DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
  }
}

void Propagation::demand(OpOperand &operand, ShardingAttr sharding) {
  Value value = operand.get();
  if (dist::getSharding(value.getType()) == sharding)
    return;
  RankedTensorType type = withSharding(value.getType(), sharding);
  if (followsUser(value.getDefiningOp()))
    return retype(value.getDefiningOp(), type);
  Value &reshard = reshards[{value, sharding}];
  if (!reshard) {
    OpBuilder builder(operand.getOwner());
    reshard = ReshardOp::create(builder, value.getLoc(), type, value);
  }
  operand.set(reshard);
}

void Propagation::visitRuled(Operation *op, const ShardingRule &rule) {
  FactorAxes axes = chooseAxes(op, rule);
  for (auto [operand, dims] :
       llvm::zip_equal(op->getOpOperands(), rule.operands))
    demand(operand, getSharding(dims, axes));
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), rule.results)) {
    ShardingAttr sharding = getSharding(dims, axes);
    AxesAttr partial = getPartial(rule, dims, axes);
    setResult(op, result,
              ShardingAttr::get(
                  op->getContext(), sharding.getMesh(), sharding.getDims(),
                  partial.empty() ? Monoid::Sum : rule.monoid, partial));
  }
  if (isa<arith::ConstantOp>(op))
    retype(op, cast<RankedTensorType>(op->getResult(0).getType()));
}

/// Every device holds the whole of a constant whose elements differ, and cuts
/// its block where it is used.
static bool isVaried(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && !isa<SplatElementsAttr>(constant.getValue());
}

void Propagation::visitVaried(arith::ConstantOp op) {
  RankedTensorType type = withSharding(op.getType(), getWhole(op.getType()));
  op.setValueAttr(DenseElementsAttr::getFromRawBuffer(
      type, cast<DenseElementsAttr>(op.getValue()).getRawData()));
  op.getResult().setType(type);
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

void Propagation::visitCall(func::CallOp call) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  for (auto [operand, type] :
       llvm::zip_equal(call->getOpOperands(), callee.getArgumentTypes()))
    if (ShardingAttr sharding = dist::getSharding(type))
      demand(operand, sharding);
  for (auto [result, type] :
       llvm::zip_equal(call.getResults(), callee.getResultTypes()))
    if (ShardingAttr sharding = dist::getSharding(type))
      setResult(call, result, sharding);
}

LogicalResult Propagation::visitConstraint(ConstraintOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  for (auto [dim, axes] : llvm::enumerate(op.getSharding().getDims()))
    if (int64_t count = mesh.getGroupSize(axes.getAxes());
        type.getDimSize(dim) % count != 0) {
      InFlightDiagnostic diag = op.emitOpError("dimension ")
                                << dim << " of size " << type.getDimSize(dim)
                                << " does not divide over " << count
                                << " devices";
      diag.attachNote() << "use axes whose size divides "
                        << type.getDimSize(dim);
      return diag;
    }
  demand(op->getOpOperand(0), op.getSharding());
  op.getResult().replaceAllUsesWith(op.getOperand());
  op.erase();
  return success();
}

/// A parameter or state is returned as it came; other results as they are.
void Propagation::visitReturn(func::ReturnOp op, bool isEntry) {
  auto func = cast<func::FuncOp>(op->getParentOp());
  if (!isEntry)
    return;
  for (StringRef attr : {nn::kParamAttrName, nn::kStateAttrName}) {
    llvm::DenseMap<Attribute, Type> typeOf;
    for (BlockArgument arg : func.getArguments())
      if (Attribute name = func.getArgAttr(arg.getArgNumber(), attr))
        typeOf[name] = arg.getType();
    for (OpOperand &operand : op->getOpOperands())
      if (Attribute name = func.getResultAttr(operand.getOperandNumber(), attr))
        if (Type type = typeOf.lookup(name))
          demand(operand, dist::getSharding(type));
  }
}

LogicalResult Propagation::visit(Operation *op) {
  if (isVaried(op)) {
    visitVaried(cast<arith::ConstantOp>(op));
    return success();
  }
  if (const ShardingRule *rule = classes.lookupRule(op)) {
    visitRuled(op, *rule);
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    visitCall(call);
    return success();
  }
  if (auto constraint = dyn_cast<ConstraintOp>(op))
    return visitConstraint(constraint);
  return op->emitOpError("has no sharding rule");
}

LogicalResult Propagation::visit(func::FuncOp func, bool isEntry) {
  reshards.clear();
  Block &block = func.getBody().front();
  for (BlockArgument arg : block.getArguments())
    if (isa<RankedTensorType>(arg.getType())) {
      ShardingAttr wish = wishes.lookup(arg);
      arg.setType(
          withSharding(arg.getType(), wish ? wish : natural.getSharding(arg)));
    }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (!isa<ReshardOp>(op) && failed(visit(&op)))
      return failure();
  visitReturn(cast<func::ReturnOp>(block.getTerminator()), isEntry);
  func.setType(FunctionType::get(func.getContext(), block.getArgumentTypes(),
                                 block.getTerminator()->getOperandTypes()));
  return success();
}

LogicalResult Propagation::run() {
  // The step and, beside it, the evaluation: whatever a run may start from.
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && failed(wishEntry(func)))
      return failure();
  for (func::FuncOp func : getCalleesFirst(module))
    if (failed(visit(func, /*isEntry=*/func.isPublic())))
      return failure();
  return success();
}

namespace {
struct PropagateShardings
    : dist::impl::PropagateShardingsBase<PropagateShardings> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshOp mesh = lookupMesh(module);
    if (failed(verifyForm(module)))
      return signalPassFailure();
    if (!mesh)
      return; // one device: nothing to shard
    unshareBroadcasts(module);
    FactorClasses classes(module, [](Operation *, unsigned) { return true; });
    auto natural = NaturalShardings::compute(module, classes, mesh);
    if (failed(natural) ||
        failed(Propagation(module, mesh, classes, *natural, zero).run()))
      return signalPassFailure();
    module->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "sharded"));
  }
};
} // namespace
