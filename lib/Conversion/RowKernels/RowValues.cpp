//===- RowValues.cpp - Values at the row and column at hand ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dist;

Operation *dist::lookupCombiner(linalg::GenericOp op, unsigned result) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), result, combiners) ||
      combiners.size() != 1 || !arith::getNeutralElement(combiners.front()))
    return nullptr;
  return combiners.front();
}

Value RowEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value RowEmitter::flatten(Value buffer) {
  Value &view = views[buffer];
  if (view)
    return view;
  OpBuilder::InsertionGuard guard(b);
  Value argument = arguments.lookup(buffer);
  b.setInsertionPointToStart(argument.getParentBlock());
  auto type = cast<MemRefType>(argument.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t extent = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    extent = size == 0 ? 0 : extent + (size - 1) * stride;
  if (type.getNumElements() == 0)
    extent = 0;
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, {1});
  auto flat =
      MemRefType::get({extent}, type.getElementType(),
                      offset == 0 ? MemRefLayoutAttrInterface() : layout);
  view = memref::ReinterpretCastOp::create(b, flat, argument, offset,
                                           ArrayRef<int64_t>{extent},
                                           ArrayRef<int64_t>{1});
  return view;
}

Value RowEmitter::viewPartial(const Partial &partial) {
  Type element =
      getElementTypeOrSelf(partial.op->getResult(partial.result).getType());
  auto type = MemRefType::get({plan.blocks * partial.elements}, element);
  return memref::ViewOp::create(b, type, workspace, index(partial.byteOffset),
                                ValueRange());
}

Value RowEmitter::addressPartial(const Partial &partial, Value blockIndex) {
  Value position =
      arith::MulIOp::create(b, blockIndex, index(partial.elements));
  if (plan.getRole(partial.op) == Role::Total)
    return position;
  Value column;
  for (const KernelLoop &loop : plan.columns) {
    Value at = indices[loop.getInnermost()];
    column =
        column ? arith::AddIOp::create(
                     b, arith::MulIOp::create(b, column, index(loop.size)), at)
               : at;
  }
  return column ? arith::AddIOp::create(b, position, column).getResult()
                : position;
}

Value RowEmitter::address(const Access &access) {
  Value position;
  auto addLoops = [&](ArrayRef<KernelLoop> loops) {
    for (const KernelLoop &loop : loops) {
      int64_t stride = access.strides[loop.getInnermost()];
      if (stride == 0)
        continue;
      Value term = indices[loop.getInnermost()];
      if (stride != 1)
        term = arith::MulIOp::create(b, term, index(stride));
      position = position ? arith::AddIOp::create(b, position, term).getResult()
                          : term;
    }
  };
  addLoops(plan.rows);
  if (access.offset != 0)
    position = position
                   ? arith::AddIOp::create(b, position, index(access.offset))
                         .getResult()
                   : index(access.offset);
  addLoops(plan.columns);
  return position ? position : index(0);
}

Value RowEmitter::load(const Access &access) {
  return memref::LoadOp::create(b, flatten(access.buffer), address(access));
}

void RowEmitter::store(Value value, const Access &access) {
  memref::StoreOp::create(b, value, flatten(access.buffer), address(access));
}

Value RowEmitter::fetch(Value tensor, AffineMap map) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return capture(fill.getInputs().front());
  if (Value value = scalars.lookup(tensor))
    return value;
  Value buffer = lookupBuffer(tensor);
  auto key = std::make_pair(tensor, buffer ? map : AffineMap());
  if (Value value = cache.lookup(key))
    return value;
  if (buffer)
    return cache[key] = load(plan.group.getAccess(buffer, map));
  if (auto entry = inRow.find(tensor); entry != inRow.end())
    return cache[key] = load(
               plan.group.getAccess(plan.group.getOutputs()[entry->second]));
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), evaluate(op, {})))
    cache[{result, AffineMap()}] = value;
  return cache.lookup(key);
}

Value RowEmitter::fetchInit(linalg::GenericOp op, unsigned result) {
  OpOperand *init = op.getDpsInitOperand(result);
  return fetch(init->get(),
               plan.group.getGroupMap(op, op.getMatchingIndexingMap(init)));
}

SmallVector<Value> RowEmitter::evaluate(linalg::GenericOp op,
                                        ValueRange accumulators) {
  IRMapping map;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    bool isAccumulator = op.isDpsInit(&operand) && !accumulators.empty();
    Value value =
        isAccumulator
            ? accumulators[operand.getOperandNumber() - op.getNumDpsInputs()]
            : fetch(operand.get(),
                    plan.group.getGroupMap(
                        op, op.getMatchingIndexingMap(&operand)));
    map.map(argument, value);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    cloneBodyOp(op, inner, map);
  return llvm::map_to_vector(
      op.getBody()->getTerminator()->getOperands(), [&](Value value) {
        return map.contains(value) ? map.lookup(value) : capture(value);
      });
}

/// A maximum that the kernel subtracts again shows a NaN through the sum that
/// follows; alone, it must not lose it.
static bool mayIgnoreNaN(linalg::GenericOp op) {
  return llvm::any_of(op->getUsers(), llvm::IsaPred<linalg::GenericOp>);
}

static void setFastMath(linalg::GenericOp op, Operation *clone) {
  using arith::FastMathFlags;
  auto fast = dyn_cast<arith::ArithFastMathInterface>(clone);
  if (!fast)
    return;
  FastMathFlags flags =
      FastMathFlags::reassoc | FastMathFlags::contract | FastMathFlags::nsz;
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(clone)) {
    flags = FastMathFlags::reassoc | FastMathFlags::nsz;
    if (op.getNumReductionLoops() > 0 && mayIgnoreNaN(op))
      flags = flags | FastMathFlags::nnan;
  }
  clone->setAttr(fast.getFastMathAttrName(),
                 arith::FastMathFlagsAttr::get(clone->getContext(), flags));
}

void RowEmitter::cloneBodyOp(linalg::GenericOp op, Operation &inner,
                             IRMapping &map) {
  for (Value operand : inner.getOperands())
    if (!map.contains(operand) && !isa<TensorType>(operand.getType()))
      map.map(operand, capture(operand));
  if (auto indexOp = dyn_cast<linalg::IndexOp>(inner)) {
    Value at = indices[plan.group.getDim(op, indexOp.getDim())];
    map.map(indexOp.getResult(), at ? at : index(0));
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    auto at = llvm::map_to_vector(
        extract.getIndices(), [&](Value value) { return map.lookup(value); });
    map.map(extract.getResult(), loadElement(extract.getTensor(), at));
  } else {
    Operation *clone = b.clone(inner, map);
    bool isReduction = op.getNumReductionLoops() > 0;
    if (isReduction || !plan.exact.contains(op))
      setFastMath(op, clone);
  }
}

/// Element `at` of a tensor that lies in a buffer.
Value RowEmitter::loadElement(Value tensor, ValueRange at) {
  Value buffer = lookupBuffer(tensor);
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  Value position = index(0);
  for (auto [component, stride] : llvm::zip_equal(at, strides))
    position = arith::AddIOp::create(
        b, position, arith::MulIOp::create(b, component, index(stride)));
  return memref::LoadOp::create(b, flatten(buffer), position);
}

/// A scalar that the function computes outside its generics.
Value RowEmitter::capture(Value value) {
  if (Value argument = arguments.lookupOrNull(value))
    return argument;
  Operation *def = value.getDefiningOp();
  if (auto extract = dyn_cast<tensor::ExtractOp>(def)) {
    auto at = llvm::map_to_vector(extract.getIndices(),
                                  [&](Value value) { return capture(value); });
    return loadElement(extract.getTensor(), at);
  }
  IRMapping map;
  for (Value operand : def->getOperands())
    map.map(operand, capture(operand));
  return b.clone(*def, map)->getResult(cast<OpResult>(value).getResultNumber());
}
