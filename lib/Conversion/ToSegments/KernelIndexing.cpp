//===- KernelIndexing.cpp - Positions, masks, rows of tables --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"
#include "OpLowerings.h"
#include "ScalarBody.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;

Value KernelWriter::getOffset(PlaceAttr place, unsigned dim, int64_t block) {
  if (!place || place.getDims()[dim].empty())
    return nullptr;
  extras.push_back(Offset{place, dim, block});
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

static CheckedIndices getEmbeddingIndices(nn::EmbeddingOp op) {
  PlaceAttr place = op.getPlaceAttr();
  return {op.getIds(),
          place ? place.getShape()[0] : op.getTable().getType().getDimSize(0)};
}

static CheckedIndices getTakeIndices(nn::TakeOp op) {
  return {op.getIds(), op.getInput().getType().getDimSize(op.getDim())};
}

static CheckedIndices getGatherIndices(nn::GatherOp op) {
  return {op.getIndices(), op.getInput().getType().getDimSize(op.getDim())};
}

void KernelWriter::populateIndexing(OpLowerings &lowerings) {
  lowerings.addKernel(&KernelWriter::writeIota);
  lowerings.addKernel(&KernelWriter::writeDropout, Reads::Buffers);
  lowerings.addKernel(&KernelWriter::writeRope, Reads::Buffers);
  lowerings.addKernel(&KernelWriter::writeEmbedding, Reads::Indexed);
  lowerings.addKernel(&KernelWriter::writeTake, Reads::Indexed);
  lowerings.addKernel(&KernelWriter::writeGather, Reads::Indexed);
  lowerings.addKernel(&KernelWriter::writeReverse, Reads::Indexed);
}

void dist::populateIndexingLowerings(OpLowerings &lowerings) {
  KernelWriter::populateIndexing(lowerings);
  lowerings.addIndices(getEmbeddingIndices);
  lowerings.addIndices(getTakeIndices);
  lowerings.addIndices(getGatherIndices);
}
