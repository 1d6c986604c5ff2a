//===- Evaluation.cpp - How ops are evaluated -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Evaluation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

static ArrayRef<int64_t> getShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getShape() : ArrayRef<int64_t>();
}

const Tensor &Evaluation::operator[](Value operand) const {
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (value == operand)
      return operands[index];
  llvm_unreachable("the value is an operand of the op");
}

ElementKind Evaluation::getKind(Type type) const {
  ElementKind kind = *getElementKind(getElementTypeOrSelf(type));
  return options.f64 && isFloat(kind) ? ElementKind::F64 : kind;
}

Tensor Evaluation::makeResult(unsigned number) const {
  Type type = op->getResult(number).getType();
  return Tensor::zeros(getKind(type), getShape(type));
}

Tensor Evaluation::makeResult(std::vector<double> values,
                              unsigned number) const {
  Type type = op->getResult(number).getType();
  return Tensor::fromFloats(getKind(type), getShape(type), std::move(values));
}

Tensor Evaluation::makeResult(std::vector<int64_t> values,
                              unsigned number) const {
  Type type = op->getResult(number).getType();
  return Tensor::fromInts(getKind(type), getShape(type), std::move(values));
}

std::pair<int64_t, int64_t> Evaluation::getBlock(PlaceAttr place, int64_t dim,
                                                 int64_t size) const {
  if (!place || !mesh)
    return {0, size};
  return dist::getBlock(mesh, place.getShape()[dim],
                        place.getDims()[dim].getAxes(), rank);
}

std::vector<int64_t>
Evaluation::getGlobalIndices(PlaceAttr place, ArrayRef<int64_t> shape) const {
  Shape strides = getStrides(place ? place.getShape() : shape);
  int64_t base = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    base += getBlock(place, dim, shape[dim]).first * strides[dim];
  return getOffsets(shape, strides, base);
}

InFlightDiagnostic Evaluation::emitError() const {
  return op->emitOpError("in step ") << options.step << ": ";
}

LogicalResult Evaluation::checkIds(const Tensor &ids, int64_t bound,
                                   std::optional<int64_t> ignored) const {
  for (auto [position, id] : llvm::enumerate(ids.ints())) {
    if ((id >= 0 && id < bound) || id == ignored)
      continue;
    return emitError() << "id " << id << " at position " << position
                       << " is outside of [0, " << bound << ")";
  }
  return success();
}

const EvaluatorRegistry::Local *
EvaluatorRegistry::lookupLocal(Operation *op) const {
  auto it = local.find(op->getName().getTypeID());
  return it == local.end() ? nullptr : &it->second;
}

const EvaluatorRegistry::Collective *
EvaluatorRegistry::lookupCollective(Operation *op) const {
  auto it = collective.find(op->getName().getTypeID());
  return it == collective.end() ? nullptr : &it->second;
}
