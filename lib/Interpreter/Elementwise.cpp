//===- Elementwise.cpp - Evaluates activations and checks -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Evaluation.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static double geluErf(double x) {
  return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
}

static double geluTanh(double x) {
  double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(u));
}

/// The form for negative x does not overflow.
static double sigmoid(double x) {
  if (x >= 0)
    return 1 / (1 + std::exp(-x));
  double e = std::exp(x);
  return e / (1 + e);
}

static double silu(double x) { return x * sigmoid(x); }
/// NaN stays NaN.
static double relu(double x) { return x <= 0 ? 0 : x; }

static Results map(const Evaluation &at, double (*compute)(double)) {
  std::vector<double> values(at.operands[0].floats());
  for (double &value : values)
    value = compute(value);
  return at.makeResult(std::move(values));
}

template <typename OpTy, double (*compute)(double)>
static Results evaluateActivation(OpTy, const Evaluation &at) {
  return map(at, compute);
}

static Results evaluateGelu(nn::GeluOp op, const Evaluation &at) {
  return map(at, op.getApproximate() == "tanh" ? geluTanh : geluErf);
}

template <typename OpTy>
static Results evaluateIdentity(OpTy, const Evaluation &at) {
  return at.operands[0];
}

static Results evaluateChecked(nn::CheckedOp op, const Evaluation &at) {
  std::optional<int64_t> ignored = op.getIgnoreIndex();
  for (auto [position, id] : llvm::enumerate(at.operands[0].ints())) {
    if ((id >= 0 && id < int64_t(op.getBound())) || id == ignored)
      continue;
    return at.emitError() << "id " << id << " of '" << op.getWhat()
                          << "' at position " << position
                          << " is outside of [0, " << op.getBound() << ")";
  }
  return at.operands[0];
}

void dist::interp::populateElementwiseEvaluators(EvaluatorRegistry &registry) {
  registry.add<nn::GeluOp>(evaluateGelu);
  registry.add<nn::SiluOp>(evaluateActivation<nn::SiluOp, silu>);
  registry.add<nn::ReluOp>(evaluateActivation<nn::ReluOp, relu>);
  registry.add<nn::SigmoidOp>(evaluateActivation<nn::SigmoidOp, sigmoid>);
  registry.add<nn::StopGradientOp>(evaluateIdentity<nn::StopGradientOp>);
  registry.add<nn::CheckedOp>(evaluateChecked);
  registry.add<ConstraintOp>(evaluateIdentity<ConstraintOp>);
  registry.add<ReshardOp>(evaluateIdentity<ReshardOp>);
  registry.add<VaryOp>(evaluateIdentity<VaryOp>);
}
