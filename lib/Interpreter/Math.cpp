//===- Math.cpp - Evaluates the math dialect ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "dist/Interpreter/Evaluation.h"
#include <cmath>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

template <typename OpTy, double (*compute)(double)>
static Results evaluateUnary(OpTy, const Evaluation &at) {
  std::vector<double> values(at.operands[0].floats());
  for (double &value : values)
    value = compute(value);
  return at.makeResult(std::move(values));
}

static double reciprocalSqrt(double x) { return 1.0 / std::sqrt(x); }

static Results evaluatePower(math::PowFOp, const Evaluation &at) {
  ArrayRef<double> base = at.operands[0].floats();
  ArrayRef<double> exponent = at.operands[1].floats();
  std::vector<double> values(base.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::pow(base[i], exponent[i]);
  return at.makeResult(std::move(values));
}

static Results evaluateFma(math::FmaOp, const Evaluation &at) {
  std::vector<double> values(at.operands[0].floats().size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::fma(at.operands[0].floats()[i], at.operands[1].floats()[i],
                         at.operands[2].floats()[i]);
  return at.makeResult(std::move(values));
}

void dist::interp::populateMathEvaluators(EvaluatorRegistry &registry) {
  using namespace math;
  registry.add<AbsFOp>(evaluateUnary<AbsFOp, std::fabs>);
  registry.add<CeilOp>(evaluateUnary<CeilOp, std::ceil>);
  registry.add<CosOp>(evaluateUnary<CosOp, std::cos>);
  registry.add<ErfOp>(evaluateUnary<ErfOp, std::erf>);
  registry.add<ExpOp>(evaluateUnary<ExpOp, std::exp>);
  registry.add<ExpM1Op>(evaluateUnary<ExpM1Op, std::expm1>);
  registry.add<FloorOp>(evaluateUnary<FloorOp, std::floor>);
  registry.add<LogOp>(evaluateUnary<LogOp, std::log>);
  registry.add<Log1pOp>(evaluateUnary<Log1pOp, std::log1p>);
  registry.add<Log2Op>(evaluateUnary<Log2Op, std::log2>);
  registry.add<RsqrtOp>(evaluateUnary<RsqrtOp, reciprocalSqrt>);
  registry.add<SinOp>(evaluateUnary<SinOp, std::sin>);
  registry.add<SqrtOp>(evaluateUnary<SqrtOp, std::sqrt>);
  registry.add<TanhOp>(evaluateUnary<TanhOp, std::tanh>);
  registry.add<FmaOp>(evaluateFma);
  registry.add<PowFOp>(evaluatePower);
}
