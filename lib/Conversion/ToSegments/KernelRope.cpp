//===- KernelRope.cpp - Rotary position embeddings ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The angles of a position are the same for every batch and head, and f64 sines
// cost a hundred multiplications: a kernel of its own writes them to tables,
// which the kernel that rotates reads.
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dist;

/// Elements of the last dimension that are rotated.
static int64_t getRotated(nn::RopeOp op) {
  return op.getDims().value_or(op.getType().getShape().back());
}

RankedTensorType KernelWriter::getAngleType(nn::RopeOp op) {
  SmallVector<int64_t> shape(typeOf(op.getPositions()).getShape());
  shape.push_back(getRotated(op) / 2);
  return RankedTensorType::get(shape, op.getType().getElementType());
}

/// What the position is multiplied with, in f64; `i` counts pairs.
static Value buildFrequency(ImplicitLocOpBuilder &b, nn::RopeOp op, Value freqs,
                            Value i) {
  Type f64 = b.getF64Type();
  if (!freqs) {
    double theta = op.getThetaAttr().getValueAsDouble();
    double slope = -2.0 * std::log(theta) / double(getRotated(op));
    Value number = arith::SIToFPOp::create(
        b, f64, arith::IndexCastOp::create(b, b.getI64Type(), i));
    Value power = arith::MulFOp::create(
        b, number, arith::ConstantOp::create(b, b.getF64FloatAttr(slope)));
    return math::ExpOp::create(b, power);
  }
  Value frequency = tensor::ExtractOp::create(b, freqs, i);
  return frequency.getType().isF64()
             ? frequency
             : arith::ExtFOp::create(b, f64, frequency).getResult();
}

/// The angles in f64, rounded once behind their cosines and sines.
func::FuncOp KernelWriter::writeAngles(nn::RopeOp op) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> sources{op.getPositions()};
  if (op.getFreqs())
    sources.push_back(op.getFreqs());
  RankedTensorType type = getAngleType(op);
  SmallVector<Type> types{LLVM::LLVMPointerType::get(b.getContext())};
  for (Value source : sources)
    types.push_back(getMemrefType(segment.getView(source), typeOf(source)));
  types.append(2, MemRefType::get(type.getShape(), type.getElementType()));
  createKernel(types);
  auto args = kernel.getArguments().drop_front();
  SmallVector<Value> read;
  for (auto [source, buffer] : llvm::zip(sources, args))
    read.push_back(bufferization::ToTensorOp::create(b, typeOf(source), buffer,
                                                     /*restrict=*/true));
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    exprs.push_back(b.getAffineDimExpr(dim));
  AffineMap map = AffineMap::get(rank, 0, exprs, b.getContext());
  Type f64 = b.getF64Type();
  Value angles =
      writeMap(type.clone(f64), read[0], map,
               [&](ImplicitLocOpBuilder &nested, ValueRange own) -> Value {
                 Value i = linalg::IndexOp::create(nested, rank - 1);
                 Value frequency = buildFrequency(
                     nested, op, read.size() > 1 ? read[1] : Value(), i);
                 Value position = arith::SIToFPOp::create(nested, f64, own[0]);
                 return arith::MulFOp::create(nested, frequency, position);
               });
  for (bool isSine : {false, true}) {
    Value table = writeMap(
        type, angles, b.getMultiDimIdentityMap(rank),
        [&](ImplicitLocOpBuilder &nested, ValueRange own) -> Value {
          Value value = isSine ? math::SinOp::create(nested, own[0]).getResult()
                               : math::CosOp::create(nested, own[0]);
          return type.getElementType().isF64()
                     ? value
                     : arith::TruncFOp::create(nested, type.getElementType(),
                                               value)
                           .getResult();
        });
    bufferization::MaterializeInDestinationOp::create(
        b, Type(), table, args[sources.size() + isSine], /*restrict=*/true,
        /*writable=*/true);
  }
  func::ReturnOp::create(b);
  return kernel;
}

namespace {
/// The element at hand in its pair.
struct Pair {
  Value isRotated, isFirst;
  Value other; ///< position of the other element
  Value index; ///< number of the pair
};
} // namespace

static Pair buildPair(ImplicitLocOpBuilder &b, nn::RopeOp op, Value j) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  int64_t half = getRotated(op) / 2;
  Pair pair;
  if (op.getInterleaved()) {
    Value odd = arith::AndIOp::create(b, j, number(1));
    pair.isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, odd, number(0));
    pair.other = arith::XOrIOp::create(b, j, number(1));
    pair.index = arith::ShRUIOp::create(b, j, number(1));
  } else {
    pair.isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, j, number(half));
    Value up = arith::AddIOp::create(b, j, number(half));
    Value down = arith::SubIOp::create(b, j, number(half));
    pair.other = arith::SelectOp::create(b, pair.isFirst, up, down);
    pair.index = arith::SelectOp::create(b, pair.isFirst, j, down);
  }
  pair.isRotated =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, j, number(2 * half));
  pair.other = arith::SelectOp::create(b, pair.isRotated, pair.other, j);
  pair.index =
      arith::SelectOp::create(b, pair.isRotated, pair.index, number(0));
  return pair;
}

Value KernelWriter::writeRope(nn::RopeOp op) {
  auto type = typeOf(op.getResult());
  int64_t rank = type.getRank();
  RankedTensorType angles = getAngleType(op);
  Value input = lookup(op.getInput()), tables[2];
  extras.push_back(op);
  for (Value &table : tables) {
    Value buffer = kernel.getBody().front().addArgument(
        MemRefType::get(angles.getShape(), angles.getElementType()),
        b.getLoc());
    table = bufferization::ToTensorOp::create(b, angles, buffer,
                                              /*restrict=*/true);
  }
  return writeMap(
      type, input, b.getMultiDimIdentityMap(rank),
      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
        SmallVector<Value> at, angleAt;
        for (int64_t dim = 0; dim < rank; ++dim)
          at.push_back(linalg::IndexOp::create(nested, dim));
        Pair pair = buildPair(nested, op, at.back());
        at.back() = pair.other;
        if (angles.getRank() == 3)
          angleAt.push_back(at.front());
        angleAt.append({at[rank - 2], pair.index});
        Value cosine = tensor::ExtractOp::create(nested, tables[0], angleAt);
        Value sine = tensor::ExtractOp::create(nested, tables[1], angleAt);
        Value other = tensor::ExtractOp::create(nested, input, at);
        Value swing = arith::MulFOp::create(nested, other, sine);
        Value keep = arith::MulFOp::create(nested, args[0], cosine);
        Value minus = arith::SubFOp::create(nested, keep, swing);
        Value plus = arith::AddFOp::create(nested, keep, swing);
        bool inverse = op.getInverse();
        Value rotated = arith::SelectOp::create(nested, pair.isFirst,
                                                inverse ? plus : minus,
                                                inverse ? minus : plus);
        return arith::SelectOp::create(nested, pair.isRotated, rotated,
                                       args[0]);
      });
}
