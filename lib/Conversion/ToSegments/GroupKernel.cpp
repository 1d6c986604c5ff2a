//===- GroupKernel.cpp - A fusion group as a kernel -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "ScalarBody.h"
#include "dist/Conversion/RowKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dist;

bool dist::isFusible(Operation *op) {
  if (auto reduce = dyn_cast<nn::ReduceOp>(op))
    return reduce.getKind() != nn::ReduceKind::Mean;
  if (auto einsum = dyn_cast<nn::EinsumOp>(op))
    return !isProduct(einsum);
  return hasScalarBody(op) || isa<nn::RepeatOp, nn::IotaOp, nn::DropoutOp,
                                  nn::EmbeddingOp, nn::RopeOp>(op);
}

/// The value of a splat constant, or null.
static TypedAttr getSplat(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return dense && dense.isSplat() ? dense.getSplatValue<TypedAttr>() : nullptr;
}

namespace {
/// Writes the ops of a group as `linalg.generic`s of a kernel function.
class KernelWriter {
public:
  KernelWriter(SegmentBuilder &segment, ArrayRef<Operation *> ops);

  /// Writes the kernel; its buffers are `inputs`, then `outputs`.
  func::FuncOp write();

  ArrayRef<Value> getInputs() const { return inputs.getArrayRef(); }
  ArrayRef<Value> getOutputs() const { return outputs.getArrayRef(); }
  /// Positions in global tensors that the kernel reads: axes and block sizes
  /// of scalar i64 inputs behind the others.
  struct Offset {
    PlaceAttr place;
    unsigned dim;
    int64_t block;
  };
  ArrayRef<Offset> getOffsets() const { return offsets; }

private:
  using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;
  void collect();
  void writeOp(Operation *op);
  Value writeElementwise(Operation *op);
  Value writeRepeat(nn::RepeatOp op);
  Value writeReduce(nn::ReduceOp op);
  Value writeIota(nn::IotaOp op);
  Value writeDropout(nn::DropoutOp op);
  Value writeEmbedding(nn::EmbeddingOp op);
  Value writeRope(nn::RopeOp op);
  Value writeEinsum(nn::EinsumOp op);
  Value writeTake(nn::TakeOp op);
  Value writeGather(nn::GatherOp op);
  Value writeReverse(nn::ReverseOp op);
  /// A generic that sums `operands` by `maps` into a tensor of `type`.
  Value writeSum(RankedTensorType type, ValueRange operands,
                 ArrayRef<AffineMap> maps, AffineMap resultMap,
                 ArrayRef<utils::IteratorType> iterators, Body term);
  /// A generic that is parallel along every dimension of the result.
  Value writeMap(RankedTensorType type, ValueRange operands,
                 ArrayRef<AffineMap> maps, Body body);
  /// Global position of the element along dimension `dim`, as i64.
  Value getPosition(ImplicitLocOpBuilder &nested, unsigned dim, Value offset);
  Value getOffset(PlaceAttr place, unsigned dim, int64_t block);
  AffineMap getMap(nn::TermAttr term, nn::TermAttr result);
  Value lookup(Value value);
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  SegmentBuilder &segment;
  ArrayRef<Operation *> ops;
  llvm::SetVector<Value> inputs, outputs;
  SmallVector<Offset> offsets;
  ImplicitLocOpBuilder b;
  func::FuncOp kernel;
  llvm::DenseMap<Value, Value> tensors;
};
} // namespace

KernelWriter::KernelWriter(SegmentBuilder &segment, ArrayRef<Operation *> ops)
    : segment(segment), ops(ops),
      b(ops.front()->getLoc(), segment.getContext()) {
  collect();
}

void KernelWriter::collect() {
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && !getSplat(operand))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }
}

Value KernelWriter::lookup(Value value) { return tensors.lookup(value); }

AffineMap KernelWriter::getMap(nn::TermAttr term, nn::TermAttr result) {
  SmallVector<AffineExpr> exprs;
  SmallVector<StringRef> names = result.getNames();
  for (StringRef name : term.getNames())
    exprs.push_back(
        b.getAffineDimExpr(llvm::find(names, name) - names.begin()));
  return AffineMap::get(names.size(), 0, exprs, b.getContext());
}

Value KernelWriter::writeMap(RankedTensorType type, ValueRange operands,
                             ArrayRef<AffineMap> maps, Body body) {
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(type.getRank()));
  Value out =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(type), operands, ValueRange(out), all, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder nested(loc, inner);
        linalg::YieldOp::create(nested, body(nested, args.drop_back()));
      });
  return generic.getResult(0);
}

Value KernelWriter::writeElementwise(Operation *op) {
  auto type = typeOf(op->getResult(0));
  SmallVector<Value> operands;
  SmallVector<TypedAttr> splats;
  for (Value operand : op->getOperands()) {
    splats.push_back(getSplat(operand));
    if (!splats.back())
      operands.push_back(lookup(operand));
  }
  SmallVector<AffineMap> maps(operands.size(),
                              b.getMultiDimIdentityMap(type.getRank()));
  return writeMap(
      type, operands, maps, [&](ImplicitLocOpBuilder &nested, ValueRange args) {
        SmallVector<Value> elements;
        auto arg = args.begin();
        for (TypedAttr splat : splats)
          elements.push_back(
              splat ? arith::ConstantOp::create(nested, splat).getResult()
                    : *arg++);
        return buildScalarBody(nested, op, elements);
      });
}

Value KernelWriter::writeRepeat(nn::RepeatOp op) {
  AffineMap map =
      getMap(op.getPattern().getOperands()[0], op.getPattern().getResult());
  if (TypedAttr splat = getSplat(op.getInput()))
    return writeMap(typeOf(op.getResult()), {}, {},
                    [&](ImplicitLocOpBuilder &nested, ValueRange) -> Value {
                      return arith::ConstantOp::create(nested, splat);
                    });
  return writeMap(
      typeOf(op.getResult()), lookup(op.getInput()), map,
      [&](ImplicitLocOpBuilder &, ValueRange args) { return args[0]; });
}

Value KernelWriter::writeReduce(nn::ReduceOp op) {
  auto type = typeOf(op.getResult());
  Type element = type.getElementType();
  nn::TermAttr input = op.getPattern().getOperands()[0];
  nn::TermAttr result = op.getPattern().getResult();
  SmallVector<utils::IteratorType> iterators;
  for (StringRef name : input.getNames())
    iterators.push_back(result.hasName(name) ? utils::IteratorType::parallel
                                             : utils::IteratorType::reduction);
  bool isSum = op.getKind() == nn::ReduceKind::Sum;
  double inf = std::numeric_limits<double>::infinity();
  double neutral =
      isSum ? 0.0 : (op.getKind() == nn::ReduceKind::Max ? -inf : inf);
  Value start = arith::ConstantOp::create(b, b.getFloatAttr(element, neutral));
  Value empty = tensor::EmptyOp::create(b, type.getShape(), element);
  Value filled = linalg::FillOp::create(b, ValueRange(start), ValueRange(empty))
                     .getResult(0);
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(iterators.size()),
                              getMap(result, input)};
  auto generic = linalg::GenericOp::create(
      b, TypeRange(type), ValueRange(lookup(op.getInput())), ValueRange(filled),
      maps, iterators, [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value joined;
        if (isSum)
          joined = arith::AddFOp::create(inner, loc, args[0], args[1]);
        else if (op.getKind() == nn::ReduceKind::Max)
          joined = arith::MaximumFOp::create(inner, loc, args[0], args[1]);
        else
          joined = arith::MinimumFOp::create(inner, loc, args[0], args[1]);
        linalg::YieldOp::create(inner, loc, joined);
      });
  return generic.getResult(0);
}

Value KernelWriter::getOffset(PlaceAttr place, unsigned dim, int64_t block) {
  if (!place || place.getDims()[dim].empty())
    return nullptr;
  offsets.push_back({place, dim, block});
  auto type = RankedTensorType::get({}, b.getI64Type());
  Value buffer = kernel.getBody().front().addArgument(
      MemRefType::get({}, b.getI64Type()), b.getLoc());
  return bufferization::ToTensorOp::create(b, type, buffer, /*restrict=*/true);
}

Value KernelWriter::getPosition(ImplicitLocOpBuilder &nested, unsigned dim,
                                Value offset) {
  Value index = arith::IndexCastOp::create(
      nested, nested.getI64Type(), linalg::IndexOp::create(nested, dim));
  return offset ? arith::AddIOp::create(nested, index, offset).getResult()
                : index;
}

Value KernelWriter::writeIota(nn::IotaOp op) {
  auto type = typeOf(op.getResult());
  unsigned dim = op.getDim();
  Value offset = getOffset(op.getPlaceAttr(), dim, type.getDimSize(dim));
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  if (offset) {
    operands.push_back(offset);
    maps.push_back(AffineMap::get(type.getRank(), 0, b.getContext()));
  }
  return writeMap(type, operands, maps,
                  [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
                    Value position = getPosition(
                        nested, dim, args.empty() ? Value() : args[0]);
                    Type element = type.getElementType();
                    if (isa<FloatType>(element))
                      return arith::SIToFPOp::create(nested, element, position);
                    if (element.isInteger(64))
                      return position;
                    return arith::TruncIOp::create(nested, element, position);
                  });
}

/// Kept iff the element's Philox word is below the threshold.
Value KernelWriter::writeDropout(nn::DropoutOp op) {
  auto type = typeOf(op.getResult());
  ArrayRef<int64_t> global =
      op.getPlaceAttr() ? op.getPlaceAttr().getShape() : type.getShape();
  double rate = op.getRate().convertToDouble();
  SmallVector<Value> operands{lookup(op.getInput()), lookup(op.getKey())};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(type.getRank())};
  SmallVector<int> offsetOf;
  // The key is read whole by every element.
  Value key = operands.pop_back_val();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value offset = getOffset(op.getPlaceAttr(), dim, type.getDimSize(dim));
    offsetOf.push_back(offset ? int(operands.size()) : -1);
    if (offset) {
      operands.push_back(offset);
      maps.push_back(AffineMap::get(type.getRank(), 0, b.getContext()));
    }
  }
  return writeMap(
      type, operands, maps,
      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(nested,
                                           nested.getI64IntegerAttr(value));
        };
        Value index = number(0);
        for (int64_t dim = 0; dim < type.getRank(); ++dim) {
          Value offset = offsetOf[dim] < 0 ? Value() : args[offsetOf[dim]];
          index = arith::AddIOp::create(
              nested, arith::MulIOp::create(nested, index, number(global[dim])),
              getPosition(nested, dim, offset));
        }
        auto keyWord = [&](int64_t i) -> Value {
          Value at = arith::ConstantIndexOp::create(nested, i);
          return tensor::ExtractOp::create(nested, key, at);
        };
        Type i32 = nested.getI32Type();
        Value block = arith::ShRUIOp::create(nested, index, number(2));
        Value zero =
            arith::ConstantOp::create(nested, nested.getI32IntegerAttr(0));
        Value low = arith::TruncIOp::create(nested, i32, block);
        Value high = arith::TruncIOp::create(
            nested, i32, arith::ShRUIOp::create(nested, block, number(32)));
        SmallVector<Value, 4> words = buildPhilox(
            nested, {low, high, zero, zero}, keyWord(0), keyWord(1));
        Value lane = arith::AndIOp::create(nested, index, number(3));
        Value word = words[3];
        for (int64_t i = 2; i >= 0; --i)
          word = arith::SelectOp::create(
              nested,
              arith::CmpIOp::create(nested, arith::CmpIPredicate::eq, lane,
                                    number(i)),
              words[i], word);
        auto threshold = uint32_t((1.0 - rate) * 4294967296.0);
        Value kept = arith::CmpIOp::create(
            nested, arith::CmpIPredicate::ult, word,
            arith::ConstantOp::create(
                nested, nested.getI32IntegerAttr(int32_t(threshold))));
        if ((1.0 - rate) * 4294967296.0 >= 4294967296.0)
          kept = arith::ConstantOp::create(nested, nested.getBoolAttr(true));
        Type element = type.getElementType();
        Value scale = arith::ConstantOp::create(
            nested, nested.getFloatAttr(element, 1.0 / (1.0 - rate)));
        Value none =
            arith::ConstantOp::create(nested, nested.getFloatAttr(element, 0));
        return arith::SelectOp::create(
            nested, kept, arith::MulFOp::create(nested, args[0], scale), none);
      });
}

/// Rows of the table by id; what another device holds reads as zero.
Value KernelWriter::writeEmbedding(nn::EmbeddingOp op) {
  auto type = typeOf(op.getResult());
  auto table = typeOf(op.getTable());
  int64_t idRank = typeOf(op.getIds()).getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < idRank; ++dim)
    exprs.push_back(b.getAffineDimExpr(dim));
  SmallVector<Value> operands{lookup(op.getIds())};
  SmallVector<AffineMap> maps{
      AffineMap::get(type.getRank(), 0, exprs, b.getContext())};
  Value offset = getOffset(op.getPlaceAttr(), 0, table.getDimSize(0));
  if (offset) {
    operands.push_back(offset);
    maps.push_back(AffineMap::get(type.getRank(), 0, b.getContext()));
  }
  Value rows = lookup(op.getTable());
  return writeMap(
      type, operands, maps,
      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
        Value id = args[0];
        if (!id.getType().isInteger(64))
          id = arith::ExtSIOp::create(nested, nested.getI64Type(), id);
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(nested,
                                           nested.getI64IntegerAttr(value));
        };
        if (offset)
          id = arith::SubIOp::create(nested, id, args[1]);
        Value isHere = arith::CmpIOp::create(nested, arith::CmpIPredicate::ult,
                                             id, number(table.getDimSize(0)));
        id = arith::SelectOp::create(nested, isHere, id, number(0));
        SmallVector<Value> at{
            arith::IndexCastOp::create(nested, nested.getIndexType(), id)};
        for (int64_t dim = idRank; dim < type.getRank(); ++dim)
          at.push_back(linalg::IndexOp::create(nested, dim));
        Value element = tensor::ExtractOp::create(nested, rows, at);
        Value none = arith::ConstantOp::create(
            nested, nested.getFloatAttr(type.getElementType(), 0));
        return arith::SelectOp::create(nested, isHere, element, none);
      });
}

static Value constantF64(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
}

/// The angle in f64, rounded once behind its sine and cosine.
Value KernelWriter::writeRope(nn::RopeOp op) {
  auto type = typeOf(op.getResult());
  Type element = type.getElementType();
  int64_t rank = type.getRank();
  int64_t dims = op.getDims().value_or(type.getShape().back());
  int64_t half = dims / 2;
  bool isPaired = op.getInterleaved();
  SmallVector<AffineExpr> exprs;
  if (typeOf(op.getPositions()).getRank() == 2)
    exprs.push_back(b.getAffineDimExpr(0));
  exprs.push_back(b.getAffineDimExpr(rank - 2));
  SmallVector<Value> operands{lookup(op.getInput()), lookup(op.getPositions())};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank),
                              AffineMap::get(rank, 0, exprs, b.getContext())};
  Value input = operands[0];
  Value freqs = op.getFreqs() ? lookup(op.getFreqs()) : Value();
  return writeMap(
      type, operands, maps,
      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
        Type f64 = nested.getF64Type(), i64 = nested.getI64Type();
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(nested,
                                           nested.getI64IntegerAttr(value));
        };
        Value j = getPosition(nested, rank - 1, nullptr);
        Value isFirst, pair, frequency;
        if (isPaired) {
          Value odd = arith::AndIOp::create(nested, j, number(1));
          isFirst = arith::CmpIOp::create(nested, arith::CmpIPredicate::eq, odd,
                                          number(0));
          pair = arith::XOrIOp::create(nested, j, number(1));
          frequency = arith::ShRUIOp::create(nested, j, number(1));
        } else {
          isFirst = arith::CmpIOp::create(nested, arith::CmpIPredicate::ult, j,
                                          number(half));
          Value up = arith::AddIOp::create(nested, j, number(half));
          Value down = arith::SubIOp::create(nested, j, number(half));
          pair = arith::SelectOp::create(nested, isFirst, up, down);
          frequency = arith::SelectOp::create(nested, isFirst, j, down);
        }
        Value isRotated = arith::CmpIOp::create(
            nested, arith::CmpIPredicate::ult, j, number(dims));
        pair = arith::SelectOp::create(nested, isRotated, pair, j);
        frequency =
            arith::SelectOp::create(nested, isRotated, frequency, number(0));
        Value angle;
        if (freqs) {
          Value at = arith::IndexCastOp::create(nested, nested.getIndexType(),
                                                frequency);
          angle = tensor::ExtractOp::create(nested, freqs, at);
          if (!angle.getType().isF64())
            angle = arith::ExtFOp::create(nested, f64, angle);
        } else {
          double theta = op.getThetaAttr().getValueAsDouble();
          Value power = arith::MulFOp::create(
              nested, arith::SIToFPOp::create(nested, f64, frequency),
              constantF64(nested, -2.0 * std::log(theta) / double(dims)));
          angle = math::ExpOp::create(nested, power);
        }
        Value position = args[1];
        if (position.getType() != i64)
          position = arith::ExtSIOp::create(nested, i64, position);
        angle = arith::MulFOp::create(
            nested, angle, arith::SIToFPOp::create(nested, f64, position));
        auto round = [&](Value value) -> Value {
          return element.isF64()
                     ? value
                     : arith::TruncFOp::create(nested, element, value)
                           .getResult();
        };
        Value cosine = round(math::CosOp::create(nested, angle));
        Value sine = round(math::SinOp::create(nested, angle));
        SmallVector<Value> at;
        for (int64_t dim = 0; dim + 1 < rank; ++dim)
          at.push_back(linalg::IndexOp::create(nested, dim));
        at.push_back(
            arith::IndexCastOp::create(nested, nested.getIndexType(), pair));
        Value other = tensor::ExtractOp::create(nested, input, at);
        Value swing = arith::MulFOp::create(nested, other, sine);
        Value keep = arith::MulFOp::create(nested, args[0], cosine);
        Value minus = arith::SubFOp::create(nested, keep, swing);
        Value plus = arith::AddFOp::create(nested, keep, swing);
        bool inverse = op.getInverse();
        Value rotated = arith::SelectOp::create(
            nested, isFirst, inverse ? plus : minus, inverse ? minus : plus);
        return arith::SelectOp::create(nested, isRotated, rotated, args[0]);
      });
}

/// Sums of products that no GEMM computes.
Value KernelWriter::writeEinsum(nn::EinsumOp op) {
  nn::TermAttr result = op.getPattern().getResult();
  SmallVector<StringRef> names = result.getNames();
  SmallVector<utils::IteratorType> iterators(names.size(),
                                             utils::IteratorType::parallel);
  for (nn::TermAttr term : op.getPattern().getOperands())
    for (StringRef name : term.getNames())
      if (!llvm::is_contained(names, name)) {
        names.push_back(name);
        iterators.push_back(utils::IteratorType::reduction);
      }
  auto mapOf = [&](nn::TermAttr term) {
    SmallVector<AffineExpr> exprs;
    for (ArrayAttr dim : term.getDims()) {
      if (dim.empty()) {
        exprs.push_back(b.getAffineConstantExpr(0));
        continue;
      }
      StringRef name = cast<StringAttr>(dim[0]).getValue();
      exprs.push_back(
          b.getAffineDimExpr(llvm::find(names, name) - names.begin()));
    }
    return AffineMap::get(names.size(), 0, exprs, b.getContext());
  };
  auto type = typeOf(op.getResult());
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  for (auto [input, term] :
       llvm::zip_equal(op.getInputs(), op.getPattern().getOperands())) {
    operands.push_back(lookup(input));
    maps.push_back(mapOf(term));
  }
  auto product = [&](ImplicitLocOpBuilder &nested, ValueRange args) {
    Value value = args.front();
    for (Value factor : args.drop_front())
      value = arith::MulFOp::create(nested, value, factor);
    return value;
  };
  if (!llvm::is_contained(iterators, utils::IteratorType::reduction))
    return writeMap(type, operands, maps, product);
  return writeSum(type, operands, maps, mapOf(result), iterators, product);
}

Value KernelWriter::writeSum(RankedTensorType type, ValueRange operands,
                             ArrayRef<AffineMap> maps, AffineMap resultMap,
                             ArrayRef<utils::IteratorType> iterators,
                             Body term) {
  Type element = type.getElementType();
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0));
  Value empty = tensor::EmptyOp::create(b, type.getShape(), element);
  Value filled = linalg::FillOp::create(b, ValueRange(zero), ValueRange(empty))
                     .getResult(0);
  SmallVector<AffineMap> all(maps);
  all.push_back(resultMap);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(type), operands, ValueRange(filled), all, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder nested(loc, inner);
        Value sum = arith::AddFOp::create(
            nested, term(nested, args.drop_back()), args.back());
        linalg::YieldOp::create(nested, sum);
      });
  return generic.getResult(0);
}

static Value castToIndex(ImplicitLocOpBuilder &b, Value id) {
  return arith::IndexCastOp::create(b, b.getIndexType(), id);
}

Value KernelWriter::writeTake(nn::TakeOp op) {
  auto type = typeOf(op.getResult());
  int64_t dim = op.getDim(), idRank = typeOf(op.getIds()).getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < idRank; ++i)
    exprs.push_back(b.getAffineDimExpr(dim + i));
  AffineMap map = AffineMap::get(type.getRank(), 0, exprs, b.getContext());
  Value input = lookup(op.getInput());
  return writeMap(type, lookup(op.getIds()), map,
                  [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
                    SmallVector<Value> at;
                    for (int64_t i = 0; i < dim; ++i)
                      at.push_back(linalg::IndexOp::create(nested, i));
                    at.push_back(castToIndex(nested, args[0]));
                    for (int64_t i = dim + idRank; i < type.getRank(); ++i)
                      at.push_back(linalg::IndexOp::create(nested, i));
                    return tensor::ExtractOp::create(nested, input, at);
                  });
}

Value KernelWriter::writeGather(nn::GatherOp op) {
  auto type = typeOf(op.getResult());
  Value input = lookup(op.getInput());
  return writeMap(
      type, lookup(op.getIndices()), b.getMultiDimIdentityMap(type.getRank()),
      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (int64_t i = 0; i < type.getRank(); ++i)
          at.push_back(i == int64_t(op.getDim())
                           ? castToIndex(nested, args[0])
                           : linalg::IndexOp::create(nested, i).getResult());
        return tensor::ExtractOp::create(nested, input, at);
      });
}

Value KernelWriter::writeReverse(nn::ReverseOp op) {
  auto type = typeOf(op.getResult());
  Value input = lookup(op.getInput());
  return writeMap(
      type, {}, {}, [&](ImplicitLocOpBuilder &nested, ValueRange) -> Value {
        SmallVector<Value> at;
        for (int64_t i = 0; i < type.getRank(); ++i) {
          Value index = linalg::IndexOp::create(nested, i);
          if (llvm::is_contained(op.getDims(), i))
            index = arith::SubIOp::create(
                nested,
                arith::ConstantIndexOp::create(nested, type.getDimSize(i) - 1),
                index);
          at.push_back(index);
        }
        return tensor::ExtractOp::create(nested, input, at);
      });
}

void KernelWriter::writeOp(Operation *op) {
  b.setLoc(op->getLoc());
  Value result;
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    result = writeRepeat(repeat);
  else if (auto reduce = dyn_cast<nn::ReduceOp>(op))
    result = writeReduce(reduce);
  else if (auto iota = dyn_cast<nn::IotaOp>(op))
    result = writeIota(iota);
  else if (auto dropout = dyn_cast<nn::DropoutOp>(op))
    result = writeDropout(dropout);
  else if (auto embedding = dyn_cast<nn::EmbeddingOp>(op))
    result = writeEmbedding(embedding);
  else if (auto rope = dyn_cast<nn::RopeOp>(op))
    result = writeRope(rope);
  else if (auto einsum = dyn_cast<nn::EinsumOp>(op))
    result = writeEinsum(einsum);
  else if (auto take = dyn_cast<nn::TakeOp>(op))
    result = writeTake(take);
  else if (auto gather = dyn_cast<nn::GatherOp>(op))
    result = writeGather(gather);
  else if (auto reverse = dyn_cast<nn::ReverseOp>(op))
    result = writeReverse(reverse);
  else
    result = writeElementwise(op);
  tensors[op->getResult(0)] = result;
}

func::FuncOp KernelWriter::write() {
  MLIRContext *context = b.getContext();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(segment.getPool().getModule().getBody());
  SmallVector<Type> types{LLVM::LLVMPointerType::get(context)};
  for (Value input : inputs)
    types.push_back(getMemrefType(segment.getView(input), typeOf(input)));
  for (Value output : outputs)
    types.push_back(getMemrefType(segment.getView(output), typeOf(output)));
  kernel =
      func::FuncOp::create(b, b.getLoc(), "k", b.getFunctionType(types, {}));
  kernel->setAttr("dist.kernel", b.getUnitAttr());
  kernel.setPrivate();
  Block *block = kernel.addEntryBlock();
  b.setInsertionPointToStart(block);
  auto args = block->getArguments().drop_front();
  for (auto [input, buffer] : llvm::zip(inputs, args))
    tensors[input] = bufferization::ToTensorOp::create(b, typeOf(input), buffer,
                                                       /*restrict=*/true);
  for (Operation *op : ops)
    writeOp(op);
  for (auto [output, buffer] :
       llvm::zip(outputs, block->getArguments().drop_front(1 + inputs.size())))
    bufferization::MaterializeInDestinationOp::create(
        b, Type(), tensors[output], buffer, /*restrict=*/true,
        /*writable=*/true);
  func::ReturnOp::create(b);
  kernel.setType(b.getFunctionType(block->getArgumentTypes(), {}));
  return kernel;
}

/// Stores the first position of this device's block in a scalar buffer.
static Value buildOffset(SegmentBuilder &b,
                         const KernelWriter::Offset &offset) {
  Value group = b.getGroupIndex(offset.place.getDims()[offset.dim].getAxes());
  Value index = arith::MulIOp::create(b, group, b.constantI64(offset.block));
  auto type = RankedTensorType::get({}, b.getI64Type());
  View view = b.allocateTemporary(type);
  Value buffer = b.getMemref(view, type);
  memref::StoreOp::create(b, index, buffer, ValueRange());
  return buffer;
}

/// Calls `kernel`, which `writer` wrote, with `workspaceBytes` of scratch.
static void callKernel(SegmentBuilder &b, KernelWriter &writer,
                       func::FuncOp kernel, int64_t workspaceBytes) {
  SmallVector<Value> arguments{b.getRank()};
  for (Value input : writer.getInputs())
    arguments.push_back(b.getMemref(input));
  for (Value output : writer.getOutputs())
    arguments.push_back(b.getMemref(output));
  for (const KernelWriter::Offset &offset : writer.getOffsets())
    arguments.push_back(buildOffset(b, offset));
  if (workspaceBytes > 0) {
    auto type = MemRefType::get({workspaceBytes}, b.getI8Type());
    unsigned index = kernel.getNumArguments();
    (void)kernel.insertArgument(index, type, {}, b.getLoc());
    kernel.setArgAttr(index, "dist.workspace", b.getUnitAttr());
    arguments.push_back(b.getScratch(workspaceBytes));
  }
  func::CallOp::create(b, b.getPool().intern(kernel), arguments);
}

/// Gives the outputs of `ops` buffers.
static void allocateOutputs(SegmentBuilder &b, ArrayRef<Value> outputs) {
  for (Value output : outputs)
    if (!b.hasView(output))
      b.allocate(output);
}

LogicalResult dist::lowerGroup(SegmentBuilder &b, ArrayRef<Operation *> ops) {
  KernelWriter writer(b, ops);
  if (writer.getOutputs().empty())
    return success();
  allocateOutputs(b, writer.getOutputs());
  func::FuncOp kernel = writer.write();
  std::string why;
  FailureOr<int64_t> workspace = failure();
  {
    ScopedDiagnosticHandler handler(b.getContext(), [&](Diagnostic &diag) {
      why += diag.str() + "; ";
      return success();
    });
    workspace = computeRowKernelWorkspace(kernel);
  }
  if (succeeded(workspace)) {
    callKernel(b, writer, kernel, *workspace);
    b.nextUnit();
    return success();
  }
  if (ops.size() == 1) {
    return ops.front()->emitOpError("cannot be written as a loop over rows: ")
           << why;
  }
  kernel.erase();
  size_t half = ops.size() / 2;
  return success(succeeded(lowerGroup(b, ops.take_front(half))) &&
                 succeeded(lowerGroup(b, ops.drop_front(half))));
}

LogicalResult dist::lowerCopy(SegmentBuilder &b, RankedTensorType type,
                              const View &from, const View &to) {
  OpBuilder::InsertionGuard guard(b);
  Value source = b.getMemref(from, type), target = b.getMemref(to, type);
  ProgramPool &pool = b.getPool();
  ImplicitLocOpBuilder k(b.getLoc(), b.getContext());
  k.setInsertionPointToEnd(pool.getModule().getBody());
  auto kernel = func::FuncOp::create(
      k, "k",
      k.getFunctionType({LLVM::LLVMPointerType::get(b.getContext()),
                         source.getType(), target.getType()},
                        {}));
  kernel->setAttr("dist.kernel", k.getUnitAttr());
  kernel.setPrivate();
  Block *block = kernel.addEntryBlock();
  k.setInsertionPointToStart(block);
  Value in = bufferization::ToTensorOp::create(k, type, block->getArgument(1),
                                               /*restrict=*/true);
  Value empty =
      tensor::EmptyOp::create(k, type.getShape(), type.getElementType());
  AffineMap identity = k.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      k, TypeRange(type), ValueRange(in), ValueRange(empty),
      ArrayRef<AffineMap>{identity, identity}, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args[0]);
      });
  bufferization::MaterializeInDestinationOp::create(
      k, Type(), generic.getResult(0), block->getArgument(2),
      /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(k);
  if (failed(computeRowKernelWorkspace(kernel)))
    return failure();
  func::CallOp::create(b, pool.intern(kernel),
                       ValueRange{b.getRank(), source, target});
  b.nextUnit();
  return success();
}
