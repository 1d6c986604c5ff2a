//===- Tensor.cpp - The value of a tensor ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace dist::interp;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t dist::interp::getNumElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Shape dist::interp::getStrides(ArrayRef<int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

std::vector<int64_t> dist::interp::getOffsets(ArrayRef<int64_t> shape,
                                              ArrayRef<int64_t> strides,
                                              int64_t base) {
  assert(shape.size() == strides.size() && "a stride per dimension");
  std::vector<int64_t> offsets{base};
  for (auto [size, stride] : zip_equal(shape, strides)) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * size);
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

std::string dist::interp::formatShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  raw_string_ostream os(text);
  interleave(shape, os, "x");
  return text;
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

Tensor Tensor::zeros(ElementKind kind, ArrayRef<int64_t> shape) {
  if (interp::isFloat(kind))
    return fromFloats(kind, shape,
                      std::vector<double>(interp::getNumElements(shape)));
  return fromInts(kind, shape,
                  std::vector<int64_t>(interp::getNumElements(shape)));
}

Tensor Tensor::poison(ElementKind kind, ArrayRef<int64_t> shape) {
  Tensor tensor = zeros(kind, shape);
  if (tensor.isFloat())
    llvm::fill(tensor.mutableFloats(), getFloatPoison());
  else
    llvm::fill(tensor.mutableInts(), getIntPoison(kind));
  return tensor;
}

Tensor Tensor::fromFloats(ElementKind kind, ArrayRef<int64_t> shape,
                          std::vector<double> values) {
  assert(interp::isFloat(kind) &&
         int64_t(values.size()) == interp::getNumElements(shape));
  roundTo(kind, values);
  Tensor tensor;
  tensor.kind = kind;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.storage = std::make_shared<Storage>();
  tensor.storage->floats = std::move(values);
  return tensor;
}

Tensor Tensor::fromInts(ElementKind kind, ArrayRef<int64_t> shape,
                        std::vector<int64_t> values) {
  assert(!interp::isFloat(kind) &&
         int64_t(values.size()) == interp::getNumElements(shape));
  for (int64_t &value : values)
    value = wrapTo(kind, value);
  Tensor tensor;
  tensor.kind = kind;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.storage = std::make_shared<Storage>();
  tensor.storage->ints = std::move(values);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void Tensor::detach() {
  if (storage.use_count() > 1)
    storage = std::make_shared<Storage>(*storage);
}

MutableArrayRef<double> Tensor::mutableFloats() {
  detach();
  return storage->floats;
}

MutableArrayRef<int64_t> Tensor::mutableInts() {
  detach();
  return storage->ints;
}

Tensor Tensor::reshape(ArrayRef<int64_t> newShape) const {
  assert(interp::getNumElements(newShape) == getNumElements());
  Tensor tensor = *this;
  tensor.shape.assign(newShape.begin(), newShape.end());
  return tensor;
}

template <typename T>
static std::vector<T> pickElements(ArrayRef<T> elements, ArrayRef<int64_t> from,
                                   T fill) {
  std::vector<T> picked(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    picked[i] = from[i] < 0 ? fill : elements[from[i]];
  return picked;
}

Tensor Tensor::pick(ArrayRef<int64_t> newShape, ArrayRef<int64_t> from,
                    const Tensor *fill) const {
  if (isFloat())
    return fromFloats(
        kind, newShape,
        pickElements(floats(), from, fill ? fill->floats().front() : 0.0));
  return fromInts(
      kind, newShape,
      pickElements(ints(), from, fill ? fill->ints().front() : int64_t(0)));
}

void Tensor::place(ArrayRef<int64_t> to, const Tensor &source) {
  assert(kind == source.kind && int64_t(to.size()) == source.getNumElements());
  if (isFloat()) {
    MutableArrayRef<double> elements = mutableFloats();
    for (size_t i = 0; i < to.size(); ++i)
      elements[to[i]] = source.floats()[i];
    return;
  }
  MutableArrayRef<int64_t> elements = mutableInts();
  for (size_t i = 0; i < to.size(); ++i)
    elements[to[i]] = source.ints()[i];
}

bool Tensor::isBitEqual(const Tensor &other) const {
  if (kind != other.kind || shape != other.shape)
    return false;
  if (storage == other.storage || getNumElements() == 0)
    return true;
  if (!isFloat())
    return ints() == other.ints();
  return std::memcmp(floats().data(), other.floats().data(),
                     floats().size() * sizeof(double)) == 0;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printElement(raw_ostream &os, const Tensor &tensor, int64_t index) {
  if (!tensor.isFloat())
    os << tensor.ints()[index];
  else if (tensor.getKind() == ElementKind::F64)
    os << format("%.12g", tensor.floats()[index]);
  else
    os << format("%.6g", tensor.floats()[index]);
}

static void printFrom(raw_ostream &os, const Tensor &tensor, int64_t dim,
                      int64_t &index) {
  if (dim == tensor.getRank())
    return printElement(os, tensor, index++);
  os << '[';
  for (int64_t i = 0; i < tensor.getDimSize(dim); ++i) {
    os << (i ? ", " : "");
    printFrom(os, tensor, dim + 1, index);
  }
  os << ']';
}

void Tensor::print(raw_ostream &os) const {
  int64_t index = 0;
  printFrom(os, *this, 0, index);
}
