//===- LowerMoves.cpp - Joins, pads, scattered sums, keys -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "PoolLoops.h"
#include "ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dist;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Fills the buffer of `value` with `element`.
static void fill(SegmentBuilder &b, Value value, TypedAttr element) {
  buildPoolLoops(
      b, b.getMemref(value), typeOf(value).getShape(),
      [&](ImplicitLocOpBuilder &nested, ValueRange operands, ValueRange at) {
        Value constant = arith::ConstantOp::create(nested, element);
        memref::StoreOp::create(nested, constant, operands[0], at);
      });
}

/// True if tensors of `type` at `a` and at `b` are the same elements.
static bool isSameView(const View &a, const View &b, RankedTensorType type) {
  return a.root == b.root && a.offset == b.offset &&
         llvm::all_of(llvm::zip_equal(type.getShape(), a.strides, b.strides),
                      [](auto dim) {
                        auto [size, left, right] = dim;
                        return size == 1 || left == right;
                      });
}

static LogicalResult lowerConcat(SegmentBuilder &b, nn::ConcatOp op) {
  // Operands may have been written in their place.
  if (!b.hasView(op.getResult()))
    allocateForReaders(b, op.getResult());
  View result = b.getView(op.getResult());
  for (Value input : op.getInputs()) {
    RankedTensorType type = typeOf(input);
    if (!isSameView(b.getView(input), result, type) &&
        failed(lowerCopy(b, type, b.getView(input), result)))
      return failure();
    result.offset +=
        typeOf(input).getDimSize(op.getDim()) * result.strides[op.getDim()];
  }
  return success();
}

static LogicalResult lowerPad(SegmentBuilder &b, nn::PadOp op) {
  View view = b.allocate(op.getResult());
  fill(b, op.getResult(), op.getValue());
  for (auto [dim, low] : llvm::enumerate(op.getLow())) {
    view.offset += low * view.strides[dim];
    if (op.getInterior())
      view.strides[dim] *= 1 + (*op.getInterior())[dim];
  }
  return lowerCopy(b, typeOf(op.getInput()), b.getView(op.getInput()), view);
}

/// Columns of a row of a table that a task adds to.
static constexpr int64_t kColumnGrain = 64;

/// The body of `lowerEmbeddingGrad` for the columns [lo, hi): operands are ids,
/// updates, the table and the first id that it has.
static void buildEmbeddingGrad(ImplicitLocOpBuilder &b, ValueRange operands,
                               Value lo, Value hi) {
  auto ids = cast<MemRefType>(operands[0].getType());
  auto table = cast<MemRefType>(operands[2].getType());
  Value one = arith::ConstantIndexOp::create(b, 1);
  // Every position of the last dimension in [lo, hi), behind `outer`.
  auto forColumns =
      [&](ImplicitLocOpBuilder &at,
          llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
        scf::ForOp::create(
            at, lo, hi, one, {},
            [&](OpBuilder &inner, Location loc, Value column, ValueRange) {
              ImplicitLocOpBuilder nested(loc, inner);
              body(nested, column);
              scf::YieldOp::create(nested);
            });
      };
  buildLoops(b, table.getShape().drop_back(),
             [&](ImplicitLocOpBuilder &row, ValueRange at) {
               forColumns(row, [&](ImplicitLocOpBuilder &nested, Value column) {
                 SmallVector<Value> to(at);
                 to.push_back(column);
                 Value zero = arith::ConstantOp::create(
                     nested, nested.getZeroAttr(table.getElementType()));
                 memref::StoreOp::create(nested, zero, operands[2], to);
               });
             });
  buildLoops(
      b, ids.getShape(), [&](ImplicitLocOpBuilder &nested, ValueRange at) {
        Value id = memref::LoadOp::create(nested, operands[0], at);
        if (!id.getType().isInteger(64))
          id = arith::ExtSIOp::create(nested, nested.getI64Type(), id);
        id = arith::SubIOp::create(nested, id, operands[3]);
        Value rows = arith::ConstantOp::create(
            nested, nested.getI64IntegerAttr(table.getDimSize(0)));
        Value isHere =
            arith::CmpIOp::create(nested, arith::CmpIPredicate::ult, id, rows);
        auto guard =
            scf::IfOp::create(nested, isHere, /*withElseRegion=*/false);
        ImplicitLocOpBuilder then(nested.getLoc(), guard.getThenBodyBuilder());
        Value row = arith::IndexCastOp::create(then, then.getIndexType(), id);
        buildLoops(
            then, table.getShape().drop_front().drop_back(),
            [&](ImplicitLocOpBuilder &outer, ValueRange rest) {
              forColumns(outer, [&](ImplicitLocOpBuilder &deep, Value column) {
                SmallVector<Value> from(at), to{row};
                from.append(rest.begin(), rest.end());
                to.append(rest.begin(), rest.end());
                from.push_back(column);
                to.push_back(column);
                Value sum = arith::AddFOp::create(
                    deep, memref::LoadOp::create(deep, operands[2], to),
                    memref::LoadOp::create(deep, operands[1], from));
                memref::StoreOp::create(deep, sum, operands[2], to);
              });
            });
      });
}

/// Adds rows in the order of the ids, a range of columns a task: the bits do
/// not depend on threads.
static LogicalResult lowerEmbeddingGrad(SegmentBuilder &b,
                                        nn::EmbeddingGradOp op) {
  auto type = typeOf(op.getResult());
  b.allocate(op.getResult());
  Value start = b.constantI64(0);
  if (PlaceAttr place = op.getPlaceAttr()) {
    start =
        arith::MulIOp::create(b, b.getGroupIndex(place.getDims()[0].getAxes()),
                              b.constantI64(type.getDimSize(0)));
  }
  int64_t columns = type.getShape().back();
  Value operands[] = {b.getMemref(op.getIds()), b.getMemref(op.getUpdates()),
                      b.getMemref(op.getResult()), start};
  callOnPool(b, operands, llvm::divideCeil(columns, kColumnGrain),
             typeOf(op.getUpdates()).getNumElements() / columns * kColumnGrain,
             [&](ImplicitLocOpBuilder &k, ValueRange own, Value i) {
               Value width = arith::ConstantIndexOp::create(k, kColumnGrain);
               Value size = arith::ConstantIndexOp::create(k, columns);
               Value lo = arith::MulIOp::create(k, i, width);
               Value hi = arith::MinUIOp::create(
                   k, arith::AddIOp::create(k, lo, width), size);
               buildEmbeddingGrad(k, own, lo, hi);
             });
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
  b.mark("loop", "check");
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

namespace {
/// How the updates of a `scatter_add` are walked.
struct ScatterLoops {
  SmallVector<int64_t> shape; ///< of the updates
  int64_t dim, idRank;
  bool isElementwise; ///< an id for each update, else one for a slice
  /// The largest dimension that is not scattered: tasks do not meet.
  std::optional<int64_t> split;

  explicit ScatterLoops(nn::ScatterAddOp op);
  int64_t getCount() const { return split ? shape[*split] : 1; }
  void addOne(ImplicitLocOpBuilder &b, ValueRange operands,
              ValueRange at) const;
};
} // namespace

ScatterLoops::ScatterLoops(nn::ScatterAddOp op)
    : shape(typeOf(op.getUpdates()).getShape()), dim(op.getDim()),
      idRank(typeOf(op.getIds()).getRank()) {
  isElementwise = typeOf(op.getIds()).getShape() == ArrayRef(shape) &&
                  idRank == typeOf(op.getResult()).getRank();
  int64_t end = dim + (isElementwise ? 1 : idRank);
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if ((i < dim || i >= end) && (!split || shape[i] > shape[*split]))
      split = i;
}

/// Adds the update at `at`; operands are ids, updates, result.
void ScatterLoops::addOne(ImplicitLocOpBuilder &b, ValueRange operands,
                          ValueRange at) const {
  SmallVector<Value> idAt(at), to(at);
  if (!isElementwise) {
    idAt.assign(at.begin() + dim, at.begin() + dim + idRank);
    to.erase(to.begin() + dim, to.begin() + dim + idRank);
    to.insert(to.begin() + dim, Value());
  }
  to[dim] = arith::IndexCastOp::create(
      b, b.getIndexType(), memref::LoadOp::create(b, operands[0], idAt));
  Value sum =
      arith::AddFOp::create(b, memref::LoadOp::create(b, operands[2], to),
                            memref::LoadOp::create(b, operands[1], at));
  memref::StoreOp::create(b, sum, operands[2], to);
}

/// Adds updates that may meet one after the other: the bits do not depend on
/// threads.
static LogicalResult lowerScatterAdd(SegmentBuilder &b, nn::ScatterAddOp op) {
  auto type = typeOf(op.getResult());
  buildIndexCheck(b, op.getIds(), type.getDimSize(op.getDim()), std::nullopt,
                  "scatter_add");
  View source = b.getView(op.getInput());
  View target = b.allocate(op.getResult());
  if (failed(lowerCopy(b, type, source, target)))
    return failure();
  ScatterLoops loops(op);
  SmallVector<int64_t> rest(loops.shape);
  if (loops.split)
    rest.erase(rest.begin() + *loops.split);
  int64_t elements = 1;
  for (int64_t size : rest)
    elements *= size;
  b.mark("loop", "scatter_add");
  callOnPool(b,
             {b.getMemref(op.getIds()), b.getMemref(op.getUpdates()),
              b.getMemref(op.getResult())},
             loops.getCount(), elements,
             [&](ImplicitLocOpBuilder &k, ValueRange own, Value i) {
               buildLoops(k, rest,
                          [&](ImplicitLocOpBuilder &nested, ValueRange in) {
                            SmallVector<Value> at(in);
                            if (loops.split)
                              at.insert(at.begin() + *loops.split, i);
                            loops.addOne(nested, own, at);
                          });
             });
  return success();
}

/// The position along `dim` of the largest element of a row, the first of
/// equal ones.
static Value buildArgmax(ImplicitLocOpBuilder &b, Value from, int64_t dim,
                         ValueRange at) {
  auto type = cast<MemRefType>(from.getType());
  auto load = [&](ImplicitLocOpBuilder &here, Value i) -> Value {
    SmallVector<Value> position(at);
    position.insert(position.begin() + dim, i);
    return memref::LoadOp::create(here, from, position);
  };
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value size = arith::ConstantIndexOp::create(b, type.getDimSize(dim));
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(
      b, zero, size, one, ValueRange{zero, load(b, zero)},
      [&](OpBuilder &inner, Location loc, Value i, ValueRange best) {
        ImplicitLocOpBuilder nested(loc, inner);
        Value element = load(nested, i);
        Value isLarger =
            isa<FloatType>(element.getType())
                ? arith::CmpFOp::create(nested, arith::CmpFPredicate::OGT,
                                        element, best[1])
                      .getResult()
                : arith::CmpIOp::create(nested, arith::CmpIPredicate::sgt,
                                        element, best[1])
                      .getResult();
        Value next[] = {
            arith::SelectOp::create(nested, isLarger, i, best[0]),
            arith::SelectOp::create(nested, isLarger, element, best[1])};
        scf::YieldOp::create(nested, next);
      });
  return loop.getResult(0);
}

static LogicalResult lowerArgmax(SegmentBuilder &b, nn::ArgmaxOp op) {
  auto type = typeOf(op.getResult());
  b.allocate(op.getResult());
  buildPoolLoops(
      b, {b.getMemref(op.getInput()), b.getMemref(op.getResult())},
      type.getShape(),
      [&](ImplicitLocOpBuilder &nested, ValueRange own, ValueRange at) {
        Value best = buildArgmax(nested, own[0], op.getDim(), at);
        best = arith::IndexCastOp::create(nested, type.getElementType(), best);
        memref::StoreOp::create(nested, best, own[1], at);
      });
  return success();
}

/// Runs `lower` under the name that traces have for its loops.
template <typename OpTy, LogicalResult (*lower)(SegmentBuilder &, OpTy)>
static LogicalResult lowerLoops(SegmentBuilder &b, OpTy op) {
  b.mark("loop", op->getName().stripDialect());
  return lower(b, op);
}

void dist::populateMoveLowerings(OpLowerings &lowerings) {
  lowerings.addCall(lowerConcat);
  lowerings.addCall(lowerLoops<nn::PadOp, lowerPad>);
  lowerings.addCall(lowerLoops<nn::EmbeddingGradOp, lowerEmbeddingGrad>);
  lowerings.addCall(lowerLoops<nn::FoldInOp, lowerFoldIn>);
  lowerings.addCall(lowerLoops<nn::CheckedOp, lowerChecked>);
  lowerings.addCall(lowerLoops<nn::ScatterAddOp, lowerScatterAdd>);
  lowerings.addCall(lowerLoops<nn::ArgmaxOp, lowerArgmax>);
}
