//===- NamedDims.h - Tensors by the names of a pattern ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_NAMEDDIMS_H
#define DIST_INTERPRETER_NAMEDDIMS_H

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Tensor.h"

namespace dist::interp {

/// The dimensions of a tensor once every group of its term is split.
struct NamedDims {
  llvm::SmallVector<llvm::StringRef> names;
  Shape shape;

  NamedDims() = default;
  NamedDims(nn::TermAttr term, const nn::NameSizes &sizes);

  void append(llvm::StringRef name, int64_t size) {
    names.push_back(name);
    shape.push_back(size);
  }
  bool contains(llvm::StringRef name) const {
    return llvm::is_contained(names, name);
  }

  /// Offsets into a row-major tensor of these dimensions, for every index of
  /// `order`; names that it lacks do not move.
  std::vector<int64_t> getOffsetsIn(const NamedDims &order) const;
};

} // namespace dist::interp

#endif // DIST_INTERPRETER_NAMEDDIMS_H
