//===- FactorSplits.h - How dimensions split into factors -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_FACTORSPLITS_H
#define DIST_ANALYSIS_FACTORSPLITS_H

#include "dist/Analysis/FactorClasses.h"
#include "dist/Interfaces/SplittableOpInterface.h"

namespace dist {

/// The strides at which a dimension is cut: a chain of proper divisors of its
/// size, each dividing the next. 768 = 3·8·32 is cut at 32 and 256.
class Cuts {
public:
  explicit Cuts(int64_t size = 1) : size(size) {}

  /// Adds `stride`. False, and nothing changes, if it does not fit:
  ///
  ///   size  cuts     add   fits
  ///   12    {}       4     yes  {4}
  ///   12    {4}      2     yes  {2, 4}
  ///   12    {4}      3     no   12 = 3·4 and 4·3
  ///   12    {4}      1     yes  no change, nor with 12
  bool add(int64_t stride);

  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  int64_t getSize() const { return size; }
  /// Sizes between the cuts, major to minor; the size itself without cuts.
  Atoms getAtoms() const;

private:
  int64_t size;
  llvm::SmallVector<int64_t, 2> strides; ///< ascending
};

/// The finest common split of every class of dimensions of a module.
class FactorSplits {
public:
  explicit FactorSplits(mlir::ModuleOp module);

  /// The dimensions that dimension `dim` of `value` becomes.
  Atoms getAtoms(mlir::Value value, unsigned dim) const {
    return cuts[classes.getClass(value, dim)].getAtoms();
  }
  /// How the rule of `op` is spelt; `op` is splittable.
  FactorSplit getSplit(mlir::Operation *op) const;

  /// The dimensions, per dimension of an operand (or result), that `op` wants
  /// to see; `tensor` counts operands first, then results.
  llvm::SmallVector<Atoms> getWanted(mlir::Operation *op,
                                     const FactorSplit &split,
                                     unsigned tensor) const;

private:
  void initialize(mlir::ModuleOp module);
  /// Exchanges cuts between a dimension and its factors; true if any is new.
  bool exchange(unsigned index);
  /// Keeps the dimension of a composite whole that cannot be split as it wants.
  void merge(unsigned index);
  bool pushDown(const FactorClasses::Composite &composite, bool &fits);
  bool pushUp(const FactorClasses::Composite &composite, bool &fits);

  FactorClasses classes;
  llvm::SmallVector<Cuts> cuts;     ///< by class
  llvm::SmallVector<bool> isPinned; ///< by class: never cut
  llvm::SmallVector<bool> isMerged; ///< by composite: its split does not fit
};

} // namespace dist

#endif // DIST_ANALYSIS_FACTORSPLITS_H
