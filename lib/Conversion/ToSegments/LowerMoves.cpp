//===- LowerMoves.cpp - Joins, pads, scattered sums, keys -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dist;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Loops over `shape`; `body` writes one element.
static void
buildLoops(SegmentBuilder &b, ArrayRef<int64_t> shape,
           llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> body) {
  SmallVector<Value> lower, upper, steps;
  for (int64_t size : shape) {
    lower.push_back(arith::ConstantIndexOp::create(b, 0));
    upper.push_back(arith::ConstantIndexOp::create(b, size));
    steps.push_back(arith::ConstantIndexOp::create(b, 1));
  }
  scf::buildLoopNest(b, b.getLoc(), lower, upper, steps,
                     [&](OpBuilder &inner, Location loc, ValueRange at) {
                       ImplicitLocOpBuilder nested(loc, inner);
                       body(nested, at);
                     });
}

static void fillZero(SegmentBuilder &b, Value value) {
  Value to = b.getMemref(value);
  Value zero = arith::ConstantOp::create(
      b, b.getZeroAttr(typeOf(value).getElementType()));
  buildLoops(b, typeOf(value).getShape(),
             [&](ImplicitLocOpBuilder &nested, ValueRange at) {
               memref::StoreOp::create(nested, zero, to, at);
             });
}

static LogicalResult lowerConcat(SegmentBuilder &b, nn::ConcatOp op) {
  View result = b.allocate(op.getResult(), getPreferredOrder(op.getResult()));
  for (Value input : op.getInputs()) {
    if (failed(lowerCopy(b, typeOf(input), b.getView(input), result)))
      return failure();
    result.offset +=
        typeOf(input).getDimSize(op.getDim()) * result.strides[op.getDim()];
  }
  return success();
}

static LogicalResult lowerPad(SegmentBuilder &b, nn::PadOp op) {
  View view = b.allocate(op.getResult());
  auto type = typeOf(op.getResult());
  Value to = b.getMemref(op.getResult());
  Value border = arith::ConstantOp::create(b, op.getValue());
  buildLoops(b, type.getShape(),
             [&](ImplicitLocOpBuilder &nested, ValueRange at) {
               memref::StoreOp::create(nested, border, to, at);
             });
  for (auto [dim, low] : llvm::enumerate(op.getLow())) {
    view.offset += low * view.strides[dim];
    if (op.getInterior())
      view.strides[dim] *= 1 + (*op.getInterior())[dim];
  }
  return lowerCopy(b, typeOf(op.getInput()), b.getView(op.getInput()), view);
}

/// Adds rows in the order of the ids: the bits do not depend on threads.
static LogicalResult lowerEmbeddingGrad(SegmentBuilder &b,
                                        nn::EmbeddingGradOp op) {
  auto type = typeOf(op.getResult());
  auto ids = typeOf(op.getIds());
  b.allocate(op.getResult());
  fillZero(b, op.getResult());
  Value start = b.constantI64(0);
  if (PlaceAttr place = op.getPlaceAttr()) {
    start =
        arith::MulIOp::create(b, b.getGroupIndex(place.getDims()[0].getAxes()),
                              b.constantI64(type.getDimSize(0)));
  }
  Value idBuffer = b.getMemref(op.getIds());
  Value updates = b.getMemref(op.getUpdates());
  Value table = b.getMemref(op.getResult());
  Value rows = b.constantI64(type.getDimSize(0));
  buildLoops(
      b, ids.getShape(), [&](ImplicitLocOpBuilder &nested, ValueRange at) {
        Value id = memref::LoadOp::create(nested, idBuffer, at);
        if (!id.getType().isInteger(64))
          id = arith::ExtSIOp::create(nested, nested.getI64Type(), id);
        id = arith::SubIOp::create(nested, id, start);
        Value isHere =
            arith::CmpIOp::create(nested, arith::CmpIPredicate::ult, id, rows);
        auto guard =
            scf::IfOp::create(nested, isHere, /*withElseRegion=*/false);
        auto inner = guard.getThenBodyBuilder();
        SmallVector<Value> lower, upper, steps;
        for (int64_t size : type.getShape().drop_front()) {
          lower.push_back(
              arith::ConstantIndexOp::create(inner, nested.getLoc(), 0));
          upper.push_back(
              arith::ConstantIndexOp::create(inner, nested.getLoc(), size));
          steps.push_back(
              arith::ConstantIndexOp::create(inner, nested.getLoc(), 1));
        }
        Value row = arith::IndexCastOp::create(inner, nested.getLoc(),
                                               nested.getIndexType(), id);
        scf::buildLoopNest(
            inner, nested.getLoc(), lower, upper, steps,
            [&](OpBuilder &deep, Location loc, ValueRange rest) {
              SmallVector<Value> source(at), target{row};
              source.append(rest.begin(), rest.end());
              target.append(rest.begin(), rest.end());
              Value sum = arith::AddFOp::create(
                  deep, loc, memref::LoadOp::create(deep, loc, table, target),
                  memref::LoadOp::create(deep, loc, updates, source));
              memref::StoreOp::create(deep, loc, sum, table, target);
            });
      });
  b.nextUnit();
  return success();
}

static LogicalResult lowerFoldIn(SegmentBuilder &b, nn::FoldInOp op) {
  b.allocate(op.getResult());
  Value from = b.getMemref(op.getKey()), to = b.getMemref(op.getResult());
  auto at = [&](int64_t i) -> Value {
    return arith::ConstantIndexOp::create(b, i);
  };
  Value zero = b.constantI32(0);
  SmallVector<Value, 4> words = buildPhilox(
      b, {b.constantI32(int32_t(op.getData())), zero, zero, b.constantI32(1)},
      memref::LoadOp::create(b, from, at(0)),
      memref::LoadOp::create(b, from, at(1)));
  memref::StoreOp::create(b, words[0], to, at(0));
  memref::StoreOp::create(b, words[1], to, at(1));
  b.nextUnit();
  return success();
}

void dist::buildIndexCheck(SegmentBuilder &b, Value ids, int64_t bound,
                           std::optional<int64_t> ignored, StringRef what) {
  auto type = typeOf(ids);
  Value from = b.getMemref(ids);
  Value rank = b.getRank();
  Value name = b.addressOf(b.getPool().internText(what));
  Value limit = b.constantI64(bound);
  LLVM::LLVMFuncOp report =
      b.getPool().declare("dist_index_error", {},
                          {rank.getType(), name.getType(), b.getI64Type(),
                           b.getI64Type(), b.getI64Type()});
  SmallVector<int64_t, 5> strides = getStrides(type.getShape());
  buildLoops(
      b, type.getShape(), [&](ImplicitLocOpBuilder &nested, ValueRange at) {
        auto number = [&](ImplicitLocOpBuilder &at, int64_t value) -> Value {
          return arith::ConstantOp::create(at, at.getI64IntegerAttr(value));
        };
        Value id = memref::LoadOp::create(nested, from, at);
        if (!id.getType().isInteger(64))
          id = arith::ExtSIOp::create(nested, nested.getI64Type(), id);
        Value isBad =
            arith::CmpIOp::create(nested, arith::CmpIPredicate::uge, id, limit);
        if (ignored) {
          Value counts = arith::CmpIOp::create(nested, arith::CmpIPredicate::ne,
                                               id, number(nested, *ignored));
          isBad = arith::AndIOp::create(nested, isBad, counts);
        }
        auto guard = scf::IfOp::create(nested, isBad, /*withElseRegion=*/false);
        ImplicitLocOpBuilder inner(nested.getLoc(), guard.getThenBodyBuilder());
        Value position = number(inner, 0);
        for (auto [index, stride] : llvm::zip_equal(at, strides)) {
          Value wide =
              arith::IndexCastOp::create(inner, inner.getI64Type(), index);
          position = arith::AddIOp::create(
              inner, position,
              arith::MulIOp::create(inner, wide, number(inner, stride)));
        }
        LLVM::CallOp::create(inner, report,
                             ValueRange{rank, name, position, id, limit});
      });
  b.nextUnit();
}

static LogicalResult lowerChecked(SegmentBuilder &b, nn::CheckedOp op) {
  buildIndexCheck(b, op.getInput(), op.getBound(), op.getIgnoreIndex(),
                  op.getWhat());
  b.setView(op.getResult(), b.getView(op.getInput()));
  return success();
}

/// Adds one update after the other: the bits do not depend on threads.
static LogicalResult lowerScatterAdd(SegmentBuilder &b, nn::ScatterAddOp op) {
  auto type = typeOf(op.getResult()), ids = typeOf(op.getIds());
  int64_t dim = op.getDim();
  buildIndexCheck(b, op.getIds(), type.getDimSize(dim), std::nullopt,
                  "scatter_add");
  View source = b.getView(op.getInput());
  View target = b.allocate(op.getResult());
  if (failed(lowerCopy(b, type, source, target)))
    return failure();
  bool isElementwise = ids.getShape() == typeOf(op.getUpdates()).getShape() &&
                       ids.getRank() == type.getRank();
  Value idBuffer = b.getMemref(op.getIds());
  Value updates = b.getMemref(op.getUpdates());
  Value table = b.getMemref(op.getResult());
  buildLoops(
      b, typeOf(op.getUpdates()).getShape(),
      [&](ImplicitLocOpBuilder &nested, ValueRange at) {
        SmallVector<Value> idAt(at), to(at);
        if (!isElementwise) {
          idAt.assign(at.begin() + dim, at.begin() + dim + ids.getRank());
          to.erase(to.begin() + dim + 1, to.begin() + dim + ids.getRank());
        }
        if (!isElementwise && ids.getRank() == 0)
          to.insert(to.begin() + dim, Value());
        to[dim] = arith::IndexCastOp::create(
            nested, nested.getIndexType(),
            memref::LoadOp::create(nested, idBuffer, idAt));
        Value sum = arith::AddFOp::create(
            nested, memref::LoadOp::create(nested, table, to),
            memref::LoadOp::create(nested, updates, at));
        memref::StoreOp::create(nested, sum, table, to);
      });
  b.nextUnit();
  return success();
}

/// Keeps the first of equal elements.
static LogicalResult lowerArgmax(SegmentBuilder &b, nn::ArgmaxOp op) {
  auto type = typeOf(op.getInput());
  Type index = typeOf(op.getResult()).getElementType();
  b.allocate(op.getResult());
  fillZero(b, op.getResult());
  Value from = b.getMemref(op.getInput()), to = b.getMemref(op.getResult());
  buildLoops(
      b, type.getShape(), [&](ImplicitLocOpBuilder &nested, ValueRange at) {
        SmallVector<Value> result(at), bestAt(at);
        result.erase(result.begin() + op.getDim());
        Value best = memref::LoadOp::create(nested, to, result);
        bestAt[op.getDim()] =
            arith::IndexCastOp::create(nested, nested.getIndexType(), best);
        Value element = memref::LoadOp::create(nested, from, at);
        Value largest = memref::LoadOp::create(nested, from, bestAt);
        Value isLarger =
            isa<FloatType>(element.getType())
                ? arith::CmpFOp::create(nested, arith::CmpFPredicate::OGT,
                                        element, largest)
                      .getResult()
                : arith::CmpIOp::create(nested, arith::CmpIPredicate::sgt,
                                        element, largest)
                      .getResult();
        Value here = arith::IndexCastOp::create(nested, index, at[op.getDim()]);
        memref::StoreOp::create(
            nested, arith::SelectOp::create(nested, isLarger, here, best), to,
            result);
      });
  b.nextUnit();
  return success();
}

LogicalResult dist::lowerMove(SegmentBuilder &b, Operation *op) {
  if (auto concat = dyn_cast<nn::ConcatOp>(op))
    return lowerConcat(b, concat);
  if (auto pad = dyn_cast<nn::PadOp>(op))
    return lowerPad(b, pad);
  if (auto grad = dyn_cast<nn::EmbeddingGradOp>(op))
    return lowerEmbeddingGrad(b, grad);
  if (auto fold = dyn_cast<nn::FoldInOp>(op))
    return lowerFoldIn(b, fold);
  if (auto checked = dyn_cast<nn::CheckedOp>(op))
    return lowerChecked(b, checked);
  if (auto scatter = dyn_cast<nn::ScatterAddOp>(op))
    return lowerScatterAdd(b, scatter);
  if (auto argmax = dyn_cast<nn::ArgmaxOp>(op))
    return lowerArgmax(b, argmax);
  if (isa<nn::RearrangeOp, nn::ReshapeOp>(op)) {
    // Elements change places: through a contiguous copy the view fits.
    Value input = op->getOperand(0);
    View copy = b.allocateTemporary(typeOf(input));
    if (failed(lowerCopy(b, typeOf(input), b.getView(input), copy)))
      return failure();
    View original = b.getView(input);
    b.setView(input, copy);
    bool fits = lowerView(b, op);
    b.setView(input, original);
    if (fits)
      return success();
  }
  return op->emitOpError("has no code on the host target");
}
