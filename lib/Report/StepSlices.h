//===- StepSlices.h - Which part of a step an op is in ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_REPORT_STEPSLICES_H
#define DIST_LIB_REPORT_STEPSLICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>

namespace dist {

enum class StepPart { Forward, Backward, Update };

llvm::StringRef getName(StepPart part);

/// `param:w`, `grad:w`, `m:w`, `loss`, `grad_norm` or a metric; empty where the
/// result has no name.
std::string getResultName(mlir::func::FuncOp func, unsigned index);

/// Which part of a step each op is in, by what is computed from it:
///
///   forward    the loss or a metric
///   backward   a gradient, but neither loss nor metric
///   update     neither
///
/// An op of a called function is in the part of each call, so it may be in two.
class StepSlices {
public:
  StepSlices(mlir::ModuleOp module, mlir::func::FuncOp entry);

  /// How often `op` runs in `part` of a step.
  int64_t getCount(mlir::Operation *op, StepPart part) const;

private:
  using Counts = std::array<int64_t, 3>;
  void addCalls(mlir::ModuleOp module, mlir::func::FuncOp func, Counts counts);

  mlir::Operation *entry;
  llvm::DenseMap<mlir::Operation *, StepPart> partOf; ///< ops of the entry
  llvm::DenseMap<mlir::Operation *, Counts> countsOf; ///< by function
};

} // namespace dist

#endif // DIST_LIB_REPORT_STEPSLICES_H
