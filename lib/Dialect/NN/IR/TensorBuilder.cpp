//===- TensorBuilder.cpp - Formulas on tensors ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

Value TensorBuilder::constant(Type type, double value) {
  auto shaped = cast<ShapedType>(type);
  Attribute element;
  if (auto floatType = dyn_cast<FloatType>(shaped.getElementType()))
    element = getFloatAttr(floatType, value);
  else
    element = getIntegerAttr(shaped.getElementType(), int64_t(value));
  return arith::ConstantOp::create(*this,
                                   DenseElementsAttr::get(shaped, element));
}

Value TensorBuilder::add(Value a, Value b) {
  if (isFloat(a))
    return arith::AddFOp::create(*this, a, b);
  return arith::AddIOp::create(*this, a, b);
}

Value TensorBuilder::sub(Value a, Value b) {
  if (isFloat(a))
    return arith::SubFOp::create(*this, a, b);
  return arith::SubIOp::create(*this, a, b);
}

Value TensorBuilder::mul(Value a, Value b) {
  if (isFloat(a))
    return arith::MulFOp::create(*this, a, b);
  return arith::MulIOp::create(*this, a, b);
}

Value TensorBuilder::div(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}

Value TensorBuilder::equal(Value a, Value b) {
  if (isFloat(a))
    return arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a, b);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, a, b);
}

Value TensorBuilder::greater(Value a, Value b) {
  if (isFloat(a))
    return arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::sgt, a, b);
}

Value TensorBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

Value TensorBuilder::toFloat(Value condition, Type type) {
  return select(condition, constant(type, 1.0), constant(type, 0.0));
}

Value TensorBuilder::widen(Value a) {
  auto type = cast<RankedTensorType>(a.getType());
  if (!isFloat(a) || type.getElementTypeBitWidth() >= 32)
    return a;
  return arith::ExtFOp::create(*this, type.clone(getF32Type()), a);
}

Value TensorBuilder::narrow(Value a, Type type) {
  if (getElementTypeOrSelf(a.getType()) == getElementTypeOrSelf(type))
    return a;
  auto narrowed =
      cast<RankedTensorType>(a.getType()).clone(getElementTypeOrSelf(type));
  return arith::TruncFOp::create(*this, narrowed, a);
}

RankedTensorType TensorBuilder::dropDim(Type type, int64_t dim) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + dim);
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// `d0 d1 d2`, without dimension `skip`.
static std::string dimNames(int64_t rank, int64_t skip = -1) {
  std::string names;
  for (int64_t d = 0; d < rank; ++d)
    if (d != skip)
      names += (names.empty() ? "d" : " d") + std::to_string(d);
  return names;
}

static int64_t rankOf(Type type) { return cast<ShapedType>(type).getRank(); }

Value TensorBuilder::reduce(ReduceKind kind, Value a, int64_t dim) {
  int64_t rank = rankOf(a.getType());
  return reduce(kind, dimNames(rank) + " -> " + dimNames(rank, dim), a,
                dropDim(a.getType(), dim));
}

Value TensorBuilder::sumAll(Value a) {
  Type element = getElementTypeOrSelf(a.getType());
  return reduce(ReduceKind::Sum, dimNames(rankOf(a.getType())) + " ->", a,
                RankedTensorType::get({}, element));
}

Value TensorBuilder::sumLeading(Value a) {
  auto type = cast<RankedTensorType>(a.getType());
  if (type.getRank() == 1)
    return a;
  std::string last = "d" + std::to_string(type.getRank() - 1);
  return reduce(
      ReduceKind::Sum, dimNames(type.getRank()) + " -> " + last, a,
      RankedTensorType::get({type.getShape().back()}, type.getElementType()));
}

Value TensorBuilder::repeat(Value a, int64_t dim, Type type) {
  int64_t rank = rankOf(type);
  return repeat(dimNames(rank, dim) + " -> " + dimNames(rank), a, type);
}

Value TensorBuilder::repeatLeading(Value a, Type type) {
  int64_t rank = rankOf(type);
  if (rank == 1)
    return a;
  return repeat("d" + std::to_string(rank - 1) + " -> " + dimNames(rank), a,
                type);
}

Value TensorBuilder::splat(Value scalar, Type type) {
  if (rankOf(type) == 0)
    return scalar;
  return repeat("-> " + dimNames(rankOf(type)), scalar, type);
}

Value TensorBuilder::einsum(StringRef text, ValueRange operands, Type result) {
  return EinsumOp::create(*this, result, pattern(text), operands);
}

Value TensorBuilder::reduce(ReduceKind kind, StringRef text, Value a,
                            Type result) {
  return ReduceOp::create(*this, result, kind, pattern(text), a);
}

Value TensorBuilder::repeat(StringRef text, Value a, Type result) {
  return RepeatOp::create(*this, result, pattern(text), a);
}

Value TensorBuilder::rearrange(StringRef text, Value a, Type result) {
  return RearrangeOp::create(*this, result, pattern(text), a);
}

PatternAttr TensorBuilder::pattern(StringRef text) {
  PatternAttr pattern = PatternAttr::parseText(
      [&] { return mlir::emitError(getLoc()); }, getContext(), text);
  assert(pattern && "patterns written by the compiler are well-formed");
  return pattern;
}

PatternAttr TensorBuilder::pattern(ArrayRef<TermAttr> operands,
                                   TermAttr result) {
  return PatternAttr::get(getContext(), operands, result);
}
