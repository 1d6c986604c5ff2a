//===- Arith.cpp - Evaluates the arith dialect ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "dist/Interpreter/Evaluation.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static double asDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static Results evaluateConstant(arith::ConstantOp op, const Evaluation &at) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return at.makeResult(std::vector<double>{asDouble(number.getValue())});
  if (auto number = dyn_cast<IntegerAttr>(op.getValue()))
    return at.makeResult(
        std::vector<int64_t>{number.getValue().getSExtValue()});
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return at.emitError() << "only dense constants can be interpreted";
  if (isFloat(at.getKind(op.getType()))) {
    std::vector<double> values;
    for (APFloat value : elements.getValues<APFloat>())
      values.push_back(asDouble(value));
    return at.makeResult(std::move(values));
  }
  std::vector<int64_t> values;
  for (const APInt &value : elements.getValues<APInt>())
    values.push_back(value.getSExtValue());
  return at.makeResult(std::move(values));
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <typename OpTy, double (*compute)(double, double)>
static Results evaluateFloatBinary(OpTy, const Evaluation &at) {
  ArrayRef<double> lhs = at.operands[0].floats(), rhs = at.operands[1].floats();
  std::vector<double> values(lhs.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = compute(lhs[i], rhs[i]);
  return at.makeResult(std::move(values));
}

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }

/// The larger number; NaN if one is, and +0 over -0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

static Results evaluateNegate(arith::NegFOp, const Evaluation &at) {
  std::vector<double> values(at.operands[0].floats());
  for (double &value : values)
    value = -value;
  return at.makeResult(std::move(values));
}

/// The outcomes of a comparison, as bits.
enum Outcome : unsigned { Equal = 1, Greater = 2, Less = 4, Unordered = 8 };

/// The outcomes that satisfy a predicate. The ordered predicates are their
/// mask; the unordered ones follow in the same order, without the first.
static unsigned getOutcomes(arith::CmpFPredicate predicate) {
  auto number = static_cast<unsigned>(predicate);
  if (predicate == arith::CmpFPredicate::UNO)
    return Unordered;
  if (predicate == arith::CmpFPredicate::AlwaysTrue)
    return Equal | Greater | Less | Unordered;
  auto firstUnordered = static_cast<unsigned>(arith::CmpFPredicate::UEQ);
  return number < firstUnordered ? number
                                 : Unordered | (number - firstUnordered + 1);
}

static Results evaluateCompareFloats(arith::CmpFOp op, const Evaluation &at) {
  unsigned outcomes = getOutcomes(op.getPredicate());
  ArrayRef<double> lhs = at.operands[0].floats(), rhs = at.operands[1].floats();
  std::vector<int64_t> values(lhs.size());
  for (size_t i = 0; i < values.size(); ++i) {
    unsigned outcome = lhs[i] == rhs[i]  ? Equal
                       : lhs[i] > rhs[i] ? Greater
                       : lhs[i] < rhs[i] ? Less
                                         : Unordered;
    values[i] = (outcomes & outcome) != 0;
  }
  return at.makeResult(std::move(values));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Wraps around: the arithmetic is unsigned.
template <typename OpTy, uint64_t (*compute)(uint64_t, uint64_t)>
static Results evaluateIntBinary(OpTy, const Evaluation &at) {
  ArrayRef<int64_t> lhs = at.operands[0].ints(), rhs = at.operands[1].ints();
  std::vector<int64_t> values(lhs.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(compute(lhs[i], rhs[i]));
  return at.makeResult(std::move(values));
}

static uint64_t addInts(uint64_t a, uint64_t b) { return a + b; }
static uint64_t subtractInts(uint64_t a, uint64_t b) { return a - b; }
static uint64_t multiplyInts(uint64_t a, uint64_t b) { return a * b; }
static uint64_t andInts(uint64_t a, uint64_t b) { return a & b; }
static uint64_t orInts(uint64_t a, uint64_t b) { return a | b; }
static uint64_t xorInts(uint64_t a, uint64_t b) { return a ^ b; }

template <typename OpTy, int64_t (*compute)(int64_t, int64_t)>
static Results evaluateSignedBinary(OpTy, const Evaluation &at) {
  const Tensor &lhs = at.operands[0], &rhs = at.operands[1];
  std::vector<int64_t> values(lhs.ints().size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = compute(asSigned(lhs.getKind(), lhs.ints()[i]),
                        asSigned(rhs.getKind(), rhs.ints()[i]));
  return at.makeResult(std::move(values));
}

static int64_t maxSigned(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t minSigned(int64_t a, int64_t b) { return std::min(a, b); }
/// The one quotient that overflows wraps, as negation does.
static int64_t divideSigned(int64_t a, int64_t b) {
  return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}
static int64_t remainderSigned(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}

template <typename OpTy, int64_t (*compute)(int64_t, int64_t)>
static Results evaluateDivision(OpTy op, const Evaluation &at) {
  for (auto [position, divisor] : llvm::enumerate(at.operands[1].ints()))
    if (divisor == 0)
      return at.emitError() << "division by zero at position " << position;
  return evaluateSignedBinary<OpTy, compute>(op, at);
}

static bool compare(arith::CmpIPredicate predicate, ElementKind kind, int64_t a,
                    int64_t b) {
  int64_t sa = asSigned(kind, a), sb = asSigned(kind, b);
  uint64_t ua = asUnsigned(kind, a), ub = asUnsigned(kind, b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return sa < sb;
  case arith::CmpIPredicate::sle:
    return sa <= sb;
  case arith::CmpIPredicate::sgt:
    return sa > sb;
  case arith::CmpIPredicate::sge:
    return sa >= sb;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  llvm_unreachable("all predicates are handled");
}

static Results evaluateCompareInts(arith::CmpIOp op, const Evaluation &at) {
  const Tensor &lhs = at.operands[0], &rhs = at.operands[1];
  std::vector<int64_t> values(lhs.ints().size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        compare(op.getPredicate(), lhs.getKind(), lhs.ints()[i], rhs.ints()[i]);
  return at.makeResult(std::move(values));
}

//===----------------------------------------------------------------------===//
// Select and casts
//===----------------------------------------------------------------------===//

static Results evaluateSelect(arith::SelectOp, const Evaluation &at) {
  const Tensor &condition = at.operands[0];
  Tensor result = at.operands[1];
  const Tensor &other = at.operands[2];
  if (condition.getNumElements() != result.getNumElements()) // one for all
    return condition.ints().front() ? result : other;
  for (int64_t i = 0, n = result.getNumElements(); i < n; ++i) {
    if (condition.ints()[i])
      continue;
    if (result.isFloat())
      result.mutableFloats()[i] = other.floats()[i];
    else
      result.mutableInts()[i] = other.ints()[i];
  }
  return result;
}

template <typename OpTy>
static Results evaluateFloatCast(OpTy, const Evaluation &at) {
  return at.makeResult(std::vector<double>(at.operands[0].floats()));
}

template <typename OpTy>
static Results evaluateSignedCast(OpTy, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  std::vector<int64_t> values(input.ints());
  for (int64_t &value : values)
    value = asSigned(input.getKind(), value);
  return at.makeResult(std::move(values));
}

static Results evaluateExtendUnsigned(arith::ExtUIOp, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  std::vector<int64_t> values(input.ints());
  for (int64_t &value : values)
    value = static_cast<int64_t>(asUnsigned(input.getKind(), value));
  return at.makeResult(std::move(values));
}

static Results evaluateSignedToFloat(arith::SIToFPOp, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  std::vector<double> values;
  for (int64_t value : input.ints())
    values.push_back(static_cast<double>(asSigned(input.getKind(), value)));
  return at.makeResult(std::move(values));
}

static Results evaluateUnsignedToFloat(arith::UIToFPOp, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  std::vector<double> values;
  for (int64_t value : input.ints())
    values.push_back(static_cast<double>(asUnsigned(input.getKind(), value)));
  return at.makeResult(std::move(values));
}

/// Toward zero; what does not fit becomes the nearest number that does.
static Results evaluateFloatToSigned(arith::FPToSIOp op, const Evaluation &at) {
  unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
  double limit = std::ldexp(1.0, width - 1);
  int64_t largest =
      static_cast<int64_t>((uint64_t(1) << (width - 1)) - uint64_t(1));
  std::vector<int64_t> values;
  for (double value : at.operands[0].floats())
    values.push_back(std::isnan(value) ? 0
                     : value >= limit  ? largest
                     : value <= -limit ? -largest - 1
                                       : static_cast<int64_t>(value));
  return at.makeResult(std::move(values));
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static void populateFloats(EvaluatorRegistry &registry) {
  using namespace arith;
  registry.add<AddFOp>(evaluateFloatBinary<AddFOp, add>);
  registry.add<SubFOp>(evaluateFloatBinary<SubFOp, subtract>);
  registry.add<MulFOp>(evaluateFloatBinary<MulFOp, multiply>);
  registry.add<DivFOp>(evaluateFloatBinary<DivFOp, divide>);
  registry.add<MaximumFOp>(evaluateFloatBinary<MaximumFOp, maximum>);
  registry.add<MinimumFOp>(evaluateFloatBinary<MinimumFOp, minimum>);
  registry.add<NegFOp>(evaluateNegate);
  registry.add<CmpFOp>(evaluateCompareFloats);
}

static void populateInts(EvaluatorRegistry &registry) {
  using namespace arith;
  registry.add<AddIOp>(evaluateIntBinary<AddIOp, addInts>);
  registry.add<SubIOp>(evaluateIntBinary<SubIOp, subtractInts>);
  registry.add<MulIOp>(evaluateIntBinary<MulIOp, multiplyInts>);
  registry.add<AndIOp>(evaluateIntBinary<AndIOp, andInts>);
  registry.add<OrIOp>(evaluateIntBinary<OrIOp, orInts>);
  registry.add<XOrIOp>(evaluateIntBinary<XOrIOp, xorInts>);
  registry.add<MaxSIOp>(evaluateSignedBinary<MaxSIOp, maxSigned>);
  registry.add<MinSIOp>(evaluateSignedBinary<MinSIOp, minSigned>);
  registry.add<DivSIOp>(evaluateDivision<DivSIOp, divideSigned>);
  registry.add<RemSIOp>(evaluateDivision<RemSIOp, remainderSigned>);
  registry.add<CmpIOp>(evaluateCompareInts);
}

void dist::interp::populateArithEvaluators(EvaluatorRegistry &registry) {
  using namespace arith;
  registry.add<ConstantOp>(evaluateConstant);
  populateFloats(registry);
  populateInts(registry);
  registry.add<SelectOp>(evaluateSelect);
  registry.add<ExtFOp>(evaluateFloatCast<ExtFOp>);
  registry.add<TruncFOp>(evaluateFloatCast<TruncFOp>);
  registry.add<ExtSIOp>(evaluateSignedCast<ExtSIOp>);
  registry.add<TruncIOp>(evaluateSignedCast<TruncIOp>);
  registry.add<ExtUIOp>(evaluateExtendUnsigned);
  registry.add<SIToFPOp>(evaluateSignedToFloat);
  registry.add<UIToFPOp>(evaluateUnsignedToFloat);
  registry.add<FPToSIOp>(evaluateFloatToSigned);
}
