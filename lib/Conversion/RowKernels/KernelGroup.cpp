//===- KernelGroup.cpp - The linalg ops of one kernel ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroup.h"
#include "SharedDims.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dist;

Value dist::lookupBuffer(Value tensor) {
  auto op = tensor.getDefiningOp<bufferization::ToTensorOp>();
  return op ? op.getBuffer() : Value();
}

/// Adds `scale * expr` to the linear form; false where `expr` is not linear.
static bool addLinear(AffineExpr expr, int64_t scale, Access &access) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    access.strides[dim.getPosition()] += scale;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    access.offset += scale * constant.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, access) &&
           addLinear(binary.getRHS(), scale, access);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         addLinear(binary.getLHS(), scale * factor.getValue(), access);
}

static bool isLinear(AffineMap map) {
  Access access{Value(), SmallVector<int64_t>(map.getNumDims(), 0), 0};
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    return addLinear(expr, 1, access);
  });
}

AffineMap KernelGroup::getGroupMap(linalg::GenericOp op, AffineMap map) const {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> exprs =
      llvm::map_to_vector(getDims(op), [&](unsigned dim) {
        return getAffineDimExpr(dim, context);
      });
  return map.replaceDimsAndSymbols(exprs, {}, sizes.size(), 0);
}

Access KernelGroup::getAccess(Value buffer, AffineMap map) const {
  Access access{buffer, SmallVector<int64_t>(sizes.size(), 0), 0};
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    addLinear(expr, stride, access);
  return access;
}

Access KernelGroup::getAccess(const KernelOutput &output) const {
  auto producer = output.tensor.getDefiningOp<linalg::GenericOp>();
  AffineMap map =
      producer.getIndexingMapMatchingResult(cast<OpResult>(output.tensor));
  return getAccess(output.buffer, getGroupMap(producer, map));
}

static LogicalResult checkBuffer(Operation *op, Value buffer) {
  assert(isa<BlockArgument>(buffer) && "no op of a kernel makes a buffer");
  auto type = dyn_cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic) ||
      ShapedType::isDynamic(offset))
    return op->emitOpError("expected a buffer of static shape, strides and "
                           "offset, got ")
           << buffer.getType();
  return success();
}

/// Scalars between the generics: constants, elements of small tensors.
static bool isScalarOp(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         llvm::none_of(op.getResultTypes(), llvm::IsaPred<ShapedType>);
}

LogicalResult KernelGroup::collect() {
  for (Operation &op : func.front().without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (!generic.hasPureTensorSemantics() ||
          llvm::any_of(generic.getStaticLoopRanges(), ShapedType::isDynamic))
        return op.emitOpError("expected tensors of static shape");
      generics.push_back(generic);
    } else if (auto source = dyn_cast<bufferization::ToTensorOp>(op)) {
      if (failed(checkBuffer(&op, source.getBuffer())))
        return failure();
    } else if (auto target =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      if (failed(checkBuffer(&op, target.getDest())))
        return failure();
      outputs.push_back({target.getSource(), target.getDest(), &op});
    } else if (!isa<linalg::FillOp, tensor::EmptyOp>(op) && !isScalarOp(op)) {
      return op.emitOpError("cannot be part of a row kernel");
    }
  }
  if (generics.empty() || outputs.empty())
    return func.emitOpError("expected a linalg.generic and a result that is "
                            "materialized in a buffer");
  return success();
}

LogicalResult KernelGroup::shareDims() {
  FailureOr<SharedDims> shared = inferSharedDims(generics);
  if (failed(shared))
    return failure();
  sizes = shared->sizes;
  for (auto [op, opDims] : llvm::zip_equal(generics, shared->dims))
    dims[op] = opDims;
  return success();
}

/// Buffers may be read at any linear form; a value that stays in registers is
/// there for the element at hand only.
LogicalResult KernelGroup::checkMaps() const {
  for (linalg::GenericOp op : generics) {
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto isPlain = [](AffineExpr expr) {
        return isa<AffineDimExpr, AffineConstantExpr>(expr);
      };
      bool isBuffer = lookupBuffer(operand.get()) != nullptr;
      if (isBuffer ? !isLinear(map) : !llvm::all_of(map.getResults(), isPlain))
        return op.emitOpError("operand #")
               << operand.getOperandNumber() << " has the map "
               << AffineMapAttr::get(map) << ", expected "
               << (isBuffer ? "a linear map" : "dimensions");
    }
  }
  return success();
}

/// Bodies are straight-line code over elements; gathers are from buffers.
LogicalResult KernelGroup::checkBodies() const {
  for (linalg::GenericOp op : generics) {
    for (Operation &inner : op.getBody()->without_terminator()) {
      auto extract = dyn_cast<tensor::ExtractOp>(inner);
      if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) ||
          (extract && !lookupBuffer(extract.getTensor())))
        return inner.emitOpError("cannot be part of a row kernel");
    }
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getDefiningOp<tensor::EmptyOp>() &&
          !op.getMatchingBlockArgument(&operand).use_empty())
        return op.emitOpError("reads a tensor without contents: operand #")
               << operand.getOperandNumber();
  }
  return success();
}

LogicalResult KernelGroup::checkOutputs() const {
  for (const KernelOutput &output : outputs)
    if (!output.tensor.getDefiningOp<linalg::GenericOp>())
      return output.op->emitOpError("expected the result of a linalg.generic");
  return success();
}

FailureOr<KernelGroup> KernelGroup::read(func::FuncOp func) {
  if (!func.getBody().hasOneBlock() || func.getNumResults() != 0)
    return func.emitOpError("expected one block and no results");
  KernelGroup group(func);
  if (failed(group.collect()) || failed(group.checkOutputs()) ||
      failed(group.checkMaps()) || failed(group.checkBodies()) ||
      failed(group.shareDims()))
    return failure();
  return group;
}
