//===- LowerSegments.cpp - Segments as kernels and calls ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "InPlace.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "ScalarBody.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Analysis/RunGroups.h"
#include "dist/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dist {
#define GEN_PASS_DEF_LOWERSEGMENTS
#include "dist/Conversion/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static Type strip(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? getUnencoded(tensor) : type;
}

/// From here on memory is what it is: `tensor` and `linalg` know no encodings.
static void stripEncodings(ModuleOp module) {
  module.walk([](Operation *op) {
    for (Value result : op->getResults())
      result.setType(strip(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          arg.setType(strip(arg.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
        auto type = cast<ShapedType>(constant.getType());
        constant.setValueAttr(
            dense.isSplat()
                ? DenseElementsAttr::get(type, dense.getSplatValue<Attribute>())
                : DenseElementsAttr::getFromRawBuffer(type,
                                                      dense.getRawData()));
      }
    if (auto func = dyn_cast<func::FuncOp>(op))
      func.setType(
          FunctionType::get(func.getContext(),
                            llvm::map_to_vector(func.getArgumentTypes(), strip),
                            llvm::map_to_vector(func.getResultTypes(), strip)));
  });
}

/// `tp`, or `tp:(1)2` for a part of it.
static std::string getManifestName(AxisAttr axis) {
  std::string name = axis.getName().str();
  if (!axis.isWhole())
    name += ":(" + std::to_string(axis.getPre()) + ")" +
            std::to_string(axis.getSize());
  return name;
}

namespace {
/// Lowers the ops of one segment in order.
class SegmentLowering {
public:
  SegmentLowering(func::FuncOp segment, ProgramPool &pool,
                  ArrayRef<func::CallOp> calls)
      : segment(segment),
        b(segment, pool, findReplacedArguments(segment, calls)) {}

  LogicalResult run();

private:
  LogicalResult flush();
  LogicalResult lower(Operation *op);
  LogicalResult lowerAlone(Operation *op);
  LogicalResult lowerConstant(arith::ConstantOp op);
  LogicalResult checkIndices(Operation *op);

  func::FuncOp segment;
  SegmentBuilder b;
  SmallVector<Operation *> group; ///< fusible ops that wait
};
} // namespace

/// The norm of a deep model adds hundreds of scalars: in pieces of this size,
/// which are equal, it costs no more to compile than that of a small one.
static constexpr size_t kScalarsPerKernel = 16;

static bool isScalarChain(ArrayRef<Operation *> ops) {
  return llvm::all_of(ops, [](Operation *op) {
    return llvm::all_of(op->getOperandTypes(), [](Type type) {
      return cast<RankedTensorType>(type).getRank() == 0;
    });
  });
}

LogicalResult SegmentLowering::flush() {
  if (group.empty())
    return success();
  SmallVector<Operation *> ops;
  std::swap(ops, group);
  for (ArrayRef<Operation *> part : partitionRun(ops)) {
    size_t size = isScalarChain(part) ? kScalarsPerKernel : part.size();
    for (; !part.empty(); part = part.drop_front(std::min(size, part.size()))) {
      b.setLoc(part.front()->getLoc());
      if (failed(lowerGroup(b, part.take_front(size))))
        return failure();
    }
  }
  return success();
}

/// Splat constants are written where they are read; those that leave the
/// segment or feed an op that wants memory get a buffer.
LogicalResult SegmentLowering::lowerConstant(arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return success();
  if (dense.isSplat() && llvm::all_of(op->getUsers(), [](Operation *user) {
        return isFusible(user) && !readsBuffers(user);
      }))
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  auto memref = MemRefType::get(type.getShape(), type.getElementType());
  ModuleOp module = b.getPool().getModule();
  auto at = OpBuilder::atBlockBegin(module.getBody());
  std::string name = "constant_" + segment.getName().str() + "_" +
                     std::to_string(std::distance(op->getBlock()->begin(),
                                                  Block::iterator(op)));
  memref::GlobalOp::create(at, op.getLoc(), name, at.getStringAttr("private"),
                           memref, dense, /*constant=*/true,
                           /*alignment=*/at.getI64IntegerAttr(64));
  Value buffer = memref::GetGlobalOp::create(b, memref, name);
  b.setView(op.getResult(), {buffer, 0, getStrides(type.getShape())});
  return success();
}

/// Kernels trust their indices: they are looked at in front.
LogicalResult SegmentLowering::checkIndices(Operation *op) {
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  if (!lowering || !lowering->indices)
    return success();
  auto [ids, bound] = lowering->indices(op);
  if (!b.hasView(ids) && failed(flush()))
    return failure();
  b.setLoc(op->getLoc());
  buildIndexCheck(b, ids, bound, std::nullopt, op->getName().stripDialect());
  return success();
}

LogicalResult SegmentLowering::lower(Operation *op) {
  b.setLoc(op->getLoc());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lowerConstant(constant);
  if (failed(checkIndices(op)))
    return failure();
  // A kernel in front of its group makes tables of them.
  if (auto rope = dyn_cast<nn::RopeOp>(op))
    if ((!b.hasView(rope.getPositions()) ||
         (rope.getFreqs() && !b.hasView(rope.getFreqs()))) &&
        failed(flush()))
      return failure();
  if (isFusible(op)) {
    Value indexed = lookupIndexedOperand(op);
    if (indexed && !b.hasView(indexed) && failed(flush()))
      return failure();
    group.push_back(op);
    return success();
  }
  if (failed(flush()) || failed(lowerAlone(op)))
    return failure();
  b.markLowered(op);
  return success();
}

/// Lowers an op that is no part of a row kernel.
LogicalResult SegmentLowering::lowerAlone(Operation *op) {
  b.setLoc(op->getLoc());
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  if (lowering && lowering->view && lowering->view(b, op))
    return success();
  if (lowering && lowering->call)
    return lowering->call(b, op);
  return op->emitOpError("has no code on the host target");
}

LogicalResult SegmentLowering::run() {
  for (Operation &op : segment.getBody().front().without_terminator())
    if (failed(lower(&op)))
      return failure();
  if (failed(flush()))
    return failure();
  return b.finish([&](RankedTensorType type, const View &from, const View &to) {
    return lowerCopy(b, type, from, to);
  });
}

namespace {
struct LowerSegments : dist::impl::LowerSegmentsBase<LowerSegments> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    stripEncodings(module);
    ProgramPool pool(module);
    SmallVector<func::FuncOp> segments;
    llvm::StringMap<SmallVector<func::CallOp>> calls;
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPrivate())
        segments.push_back(func);
    module.walk(
        [&](func::CallOp call) { calls[call.getCallee()].push_back(call); });
    for (func::FuncOp segment : segments)
      if (failed(
              SegmentLowering(segment, pool, calls[segment.getName()]).run()))
        return signalPassFailure();
    OpBuilder b(&getContext());
    SmallVector<Attribute> communicators;
    for (AxesAttr axes : pool.getCommunicators()) {
      SmallVector<Attribute> names;
      for (AxisAttr axis : axes.getAxes())
        names.push_back(b.getStringAttr(getManifestName(axis)));
      communicators.push_back(b.getArrayAttr(names));
    }
    module->setAttr("dist.communicators", b.getArrayAttr(communicators));
    module->setAttr(kPhaseAttrName, b.getStringAttr("runtime"));
  }
};
} // namespace
