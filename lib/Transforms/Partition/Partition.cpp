//===- Partition.cpp - Local shapes and collectives -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/NaturalShardings.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Interfaces/LocalizableOpInterface.h"
#include "dist/Interfaces/SplittableOpInterface.h"
#include "dist/Transforms/Passes.h"
#include "dist/Transforms/ReshardPlan.h"
#include "dist/Transforms/SignatureAttrs.h"
#include "mlir/IR/IRMapping.h"

namespace dist {
#define GEN_PASS_DEF_PARTITION
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// Rewrites functions into local shapes, op by op.
class Partitioner {
public:
  explicit Partitioner(MeshOp mesh) : mesh(mesh) {}

  void rewrite(func::FuncOp func, bool isEntry);

private:
  Type getLocal(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? getLocalType(tensor, mesh) : type;
  }
  void rewriteOp(Operation *op, OpBuilder &builder);
  void rewriteConstant(arith::ConstantOp op, OpBuilder &builder);
  void recordShardings(func::FuncOp func);

  MeshOp mesh;
  IRMapping map;
};
} // namespace

/// The entry keeps how its arguments and results are split: whoever calls it
/// has to cut and join them.
void Partitioner::recordShardings(func::FuncOp func) {
  SignatureAttrs attrs(func);
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (ShardingAttr sharding = getSharding(type))
      attrs.setArg(index, kShardingAttrName, sharding);
  for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
    if (ShardingAttr sharding = getSharding(type))
      attrs.setResult(index, kShardingAttrName, sharding);
  attrs.write();
}

/// A constant that differs along a dimension is whole everywhere before it is
/// split, so its elements are those of the type.
void Partitioner::rewriteConstant(arith::ConstantOp op, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getLocal(op.getType()));
  auto dense = cast<DenseElementsAttr>(op.getValue());
  DenseElementsAttr local =
      dense.isSplat()
          ? DenseElementsAttr::get(type, dense.getSplatValue<Attribute>())
          : DenseElementsAttr::getFromRawBuffer(type, dense.getRawData());
  map.map(op.getResult(),
          arith::ConstantOp::create(builder, op.getLoc(), local).getResult());
}

void Partitioner::rewriteOp(Operation *op, OpBuilder &builder) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return rewriteConstant(constant, builder);
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    map.map(reshard.getResult(),
            buildReshard(builder, op->getLoc(), mesh,
                         map.lookup(reshard.getOperand()),
                         reshard.getOperand().getType(), reshard.getType()));
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(map.lookup(operand));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(getLocal(type));
  Operation *local = cloneWithTypes(op, builder, operands, types);
  if (auto localizable = dyn_cast<LocalizableOpInterface>(local))
    localizable.localize(op->getOperandTypes(), op->getResultTypes());
  map.map(op->getResults(), local->getResults());
}

void Partitioner::rewrite(func::FuncOp func, bool isEntry) {
  if (isEntry)
    recordShardings(func);
  Block &block = func.getBody().front();
  auto *local = new Block();
  func.getBody().push_back(local);
  for (BlockArgument arg : block.getArguments())
    map.map(arg, local->addArgument(getLocal(arg.getType()), arg.getLoc()));
  auto builder = OpBuilder::atBlockEnd(local);
  for (Operation &op : block)
    rewriteOp(&op, builder);
  block.dropAllReferences();
  block.erase();
  func.setType(FunctionType::get(func.getContext(), local->getArgumentTypes(),
                                 local->getTerminator()->getOperandTypes()));
}

namespace {
struct Partition : dist::impl::PartitionBase<Partition> {
  void runOnOperation() override {
    MeshOp mesh = lookupMesh(getOperation());
    if (failed(verifyForm(getOperation())))
      return signalPassFailure();
    if (!mesh)
      return;
    for (auto func : getOperation().getOps<func::FuncOp>())
      Partitioner(mesh).rewrite(func, /*isEntry=*/func.isPublic());
    getOperation()->setAttr(kPhaseAttrName,
                            StringAttr::get(&getContext(), "local"));
  }
};
} // namespace
