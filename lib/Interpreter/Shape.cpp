//===- Shape.cpp - Evaluates slices, pads, joins --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Evaluation.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static ArrayRef<int64_t> getResultShape(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

static Results evaluateSlice(nn::SliceOp op, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  Shape strides = getStrides(input.getShape());
  int64_t base = 0;
  for (size_t dim = 0; dim < strides.size(); ++dim) {
    base += op.getStarts()[dim] * strides[dim];
    strides[dim] *= op.getStrides()[dim];
  }
  ArrayRef<int64_t> shape = getResultShape(op);
  return input.pick(shape, getOffsets(shape, strides, base));
}

static Results evaluatePad(nn::PadOp op, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  Shape strides = getStrides(getResultShape(op));
  int64_t base = 0;
  for (size_t dim = 0; dim < strides.size(); ++dim) {
    base += op.getLow()[dim] * strides[dim];
    if (std::optional<ArrayRef<int64_t>> interior = op.getInterior())
      strides[dim] *= 1 + (*interior)[dim];
  }
  Tensor result = at.makeResult();
  if (auto value = dyn_cast<FloatAttr>(op.getValue()))
    llvm::fill(result.mutableFloats(),
               roundTo(result.getKind(), value.getValueAsDouble()));
  else
    llvm::fill(
        result.mutableInts(),
        wrapTo(result.getKind(), cast<IntegerAttr>(op.getValue()).getInt()));
  result.place(getOffsets(input.getShape(), strides, base), input);
  return result;
}

static Results evaluateConcat(nn::ConcatOp op, const Evaluation &at) {
  Tensor result = at.makeResult();
  Shape strides = getStrides(result.getShape());
  int64_t base = 0;
  for (const Tensor &input : at.operands) {
    result.place(getOffsets(input.getShape(), strides, base), input);
    base += input.getDimSize(op.getDim()) * strides[op.getDim()];
  }
  return result;
}

static Results evaluateReverse(nn::ReverseOp op, const Evaluation &at) {
  const Tensor &input = at.operands[0];
  Shape strides = getStrides(input.getShape());
  int64_t base = 0;
  for (int64_t dim : op.getDims()) {
    base += (input.getDimSize(dim) - 1) * strides[dim];
    strides[dim] = -strides[dim];
  }
  return input.pick(input.getShape(),
                    getOffsets(input.getShape(), strides, base));
}

static Results evaluateReshape(nn::ReshapeOp op, const Evaluation &at) {
  return at.operands[0].reshape(getResultShape(op));
}

void dist::interp::populateShapeEvaluators(EvaluatorRegistry &registry) {
  registry.add<nn::SliceOp>(evaluateSlice);
  registry.add<nn::PadOp>(evaluatePad);
  registry.add<nn::ConcatOp>(evaluateConcat);
  registry.add<nn::ReverseOp>(evaluateReverse);
  registry.add<nn::ReshapeOp>(evaluateReshape);
}
