//===- NaturalShardings.h - The axes of every class -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_NATURALSHARDINGS_H
#define DIST_ANALYSIS_NATURALSHARDINGS_H

#include "dist/Analysis/FactorClasses.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dist {

/// The function that a run starts from: `step` if there is one, else `loss`,
/// else the only public function. Null if that says nothing.
mlir::func::FuncOp lookupEntry(mlir::ModuleOp module);

/// `parameter 'w'`, `input 'x'` or `argument #2`: for messages.
std::string describeArgument(mlir::func::FuncOp func, unsigned index);

/// The dimensions of argument `index` that spell its logical dimension `dim`:
/// the first and how many, from `dist.logical`.
std::pair<unsigned, unsigned> getSpeltDims(mlir::func::FuncOp func,
                                           unsigned index, unsigned dim);

/// Which mesh axes split which class of dimensions when nothing else is asked
/// for: `dp` the batch, `tp` what `TensorParallelSearch` finds. Every dimension
/// of a class has the same axes, so operands agree without a collective.
class NaturalShardings {
public:
  /// Fails, after an error, where an axis cannot split what it has to.
  static mlir::FailureOr<NaturalShardings>
  compute(mlir::ModuleOp module, const FactorClasses &classes, MeshOp mesh);

  /// The axes of a class; empty for most.
  llvm::ArrayRef<AxisAttr> getAxes(unsigned id) const { return axes[id]; }

  /// The sharding of a tensor by its classes. Where two dimensions want one
  /// axis the first has it.
  ShardingAttr getSharding(mlir::Value value) const;

private:
  NaturalShardings(const FactorClasses &classes, MeshOp mesh);
  mlir::LogicalResult splitBatch(mlir::func::FuncOp entry);
  void splitParameters(mlir::ModuleOp module, mlir::func::FuncOp entry);

  const FactorClasses *classes;
  MeshOp mesh;
  llvm::SmallVector<llvm::SmallVector<AxisAttr, 1>> axes;
};

} // namespace dist

#endif // DIST_ANALYSIS_NATURALSHARDINGS_H
