//===- Random.cpp - Evaluates dropout and keys ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Evaluation.h"
#include "io/Philox.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static io::PhiloxKey getKey(const Tensor &key) {
  return {static_cast<uint32_t>(key.ints()[0]),
          static_cast<uint32_t>(key.ints()[1])};
}

static Results evaluateFoldIn(nn::FoldInOp op, const Evaluation &at) {
  io::PhiloxKey key = io::foldIn(getKey(at.operands[0]), op.getData());
  return at.makeResult(std::vector<int64_t>{key.low, key.high});
}

static Results evaluateDropout(nn::DropoutOp op, const Evaluation &at) {
  double rate = op.getRate().convertToFloat();
  uint64_t threshold = io::dropoutThreshold(rate);
  io::PhiloxKey key = getKey(at[op.getKey()]);
  const Tensor &input = at[op.getInput()];
  std::vector<int64_t> indices =
      at.getGlobalIndices(op.getPlaceAttr(), input.getShape());
  std::vector<double> values(input.floats());
  for (auto [value, index] : llvm::zip_equal(values, indices))
    value = io::dropoutKeeps(key, index, threshold) ? value / (1 - rate) : 0.0;
  return at.makeResult(std::move(values));
}

void dist::interp::populateRandomEvaluators(EvaluatorRegistry &registry) {
  registry.add<nn::FoldInOp>(evaluateFoldIn);
  registry.add<nn::DropoutOp>(evaluateDropout);
}
