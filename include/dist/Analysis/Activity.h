//===- Activity.h - Values that need a cotangent ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_ACTIVITY_H
#define DIST_ANALYSIS_ACTIVITY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dist {

/// Which floating-point values depend on a trainable parameter. A function is
/// analysed once: an argument is active if any call passes an active value.
class Activity {
public:
  Activity(mlir::ModuleOp module, mlir::func::FuncOp entry);

  bool isActive(mlir::Value value) const { return active.contains(value); }

  /// Positions of the active arguments of `func`.
  llvm::SmallVector<unsigned> getActiveArgs(mlir::func::FuncOp func) const;
  /// Positions of the results of `func` that depend on active arguments.
  llvm::SmallVector<unsigned> getActiveResults(mlir::func::FuncOp func) const;

private:
  /// Marks what depends on active values; true if anything is new.
  bool visit(mlir::func::FuncOp func);
  bool visitCall(mlir::func::CallOp call);
  bool mark(mlir::Value value);

  mlir::ModuleOp module;
  llvm::DenseSet<mlir::Value> active;
};

} // namespace dist

#endif // DIST_ANALYSIS_ACTIVITY_H
