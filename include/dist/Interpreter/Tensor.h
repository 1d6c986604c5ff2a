//===- Tensor.h - The value of a tensor -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_TENSOR_H
#define DIST_INTERPRETER_TENSOR_H

#include "dist/Interpreter/ElementKind.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dist::interp {

using Shape = llvm::SmallVector<int64_t, 6>;

int64_t getNumElements(llvm::ArrayRef<int64_t> shape);

/// Row-major strides of `shape`, in elements.
Shape getStrides(llvm::ArrayRef<int64_t> shape);

/// `base + Σ index[d]·strides[d]` for every index of `shape` in row-major
/// order. What permutes, broadcasts, slices and reverses is such a list.
std::vector<int64_t> getOffsets(llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<int64_t> strides,
                                int64_t base = 0);

/// "8x16", "scalar".
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// Elements of one kind, row-major. Copies share their storage until one of
/// them is written.
class Tensor {
public:
  Tensor() = default;

  static Tensor zeros(ElementKind kind, llvm::ArrayRef<int64_t> shape);
  /// All elements poison: see `getFloatPoison`.
  static Tensor poison(ElementKind kind, llvm::ArrayRef<int64_t> shape);
  /// Rounds `values` to `kind`.
  static Tensor fromFloats(ElementKind kind, llvm::ArrayRef<int64_t> shape,
                           std::vector<double> values);
  /// Wraps `values` to `kind`.
  static Tensor fromInts(ElementKind kind, llvm::ArrayRef<int64_t> shape,
                         std::vector<int64_t> values);

  ElementKind getKind() const { return kind; }
  bool isFloat() const { return interp::isFloat(kind); }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getDimSize(int64_t dim) const { return shape[dim]; }
  int64_t getNumElements() const { return interp::getNumElements(shape); }

  llvm::ArrayRef<double> floats() const { return storage->floats; }
  llvm::ArrayRef<int64_t> ints() const { return storage->ints; }
  /// For writing; the storage is this tensor's own afterwards.
  llvm::MutableArrayRef<double> mutableFloats();
  llvm::MutableArrayRef<int64_t> mutableInts();

  /// Equal for tensors that share their elements.
  const void *getStorage() const { return storage.get(); }

  /// The same elements under another shape of as many.
  Tensor reshape(llvm::ArrayRef<int64_t> newShape) const;

  /// Element `from[i]` at position i of the row-major `newShape`; where
  /// `from[i]` is negative, `fill`'s only element, or 0 without one.
  Tensor pick(llvm::ArrayRef<int64_t> newShape, llvm::ArrayRef<int64_t> from,
              const Tensor *fill = nullptr) const;

  /// Writes `source`'s elements at `to[i]`.
  void place(llvm::ArrayRef<int64_t> to, const Tensor &source);

  /// True if kind, shape and all bits agree.
  bool isBitEqual(const Tensor &other) const;

  /// `[[1, 2], [3, 4]]`
  void print(llvm::raw_ostream &os) const;

private:
  struct Storage {
    std::vector<double> floats;
    std::vector<int64_t> ints;
  };

  void detach();

  ElementKind kind = ElementKind::F32;
  Shape shape;
  std::shared_ptr<Storage> storage;
};

/// One value on every rank.
using RankTensors = llvm::SmallVector<Tensor, 1>;

/// Tensors by name, in the order of their making.
using NamedTensors =
    llvm::MapVector<std::string, Tensor, llvm::StringMap<unsigned>>;

} // namespace dist::interp

#endif // DIST_INTERPRETER_TENSOR_H
