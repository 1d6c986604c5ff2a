//===- RowKernelPlan.h - Rows, columns and sweeps of a kernel ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_ROWKERNELS_ROWKERNELPLAN_H
#define DIST_CONVERSION_ROWKERNELS_ROWKERNELPLAN_H

#include "KernelGroup.h"
#include "llvm/ADT/MapVector.h"

namespace dist {

/// What an op is to the rows and columns of its kernel.
///
///   reduces        over columns    role
///   nothing        yes             Elementwise
///   nothing        no              RowScalar
///   columns        yes             RowReduction     e.g. the max of a row
///   rows           yes             ColumnReduction  e.g. a bias gradient
///   rows           no              Total            e.g. a sum of row losses
///   all            yes             Total            e.g. a norm
enum class Role {
  Elementwise,
  RowScalar,
  RowReduction,
  ColumnReduction,
  Total
};

/// One or several dimensions that every buffer walks through as if they were
/// one; addresses follow the innermost of them.
struct KernelLoop {
  llvm::SmallVector<unsigned> dims;
  int64_t size;

  unsigned getInnermost() const { return dims.back(); }
};

/// Scratch memory of a column reduction or total: `blocks x elements`.
struct Partial {
  mlir::linalg::GenericOp op;
  unsigned result;
  int64_t elements;
  int64_t byteOffset;
};

/// How a group runs: a loop over rows; inside it, per level, one sweep over the
/// columns. A row reduction is one level above what it reads.
struct RowKernelPlan {
  explicit RowKernelPlan(KernelGroup group) : group(std::move(group)) {}

  KernelGroup group;
  llvm::SmallVector<KernelLoop> rows, columns;
  llvm::DenseMap<mlir::Operation *, Role> roles;
  /// The sweep (or, for a row scalar, the sweep before which) an op runs in.
  llvm::DenseMap<mlir::Operation *, unsigned> levels;
  unsigned numLevels = 1;
  /// Values that are costly to compute and used again in a later sweep wait in
  /// the row of this output.
  llvm::MapVector<mlir::Value, unsigned> kept;
  /// Ops that compute something whose equality with another value is asked: a
  /// later sweep must get the same bits, so none of them may be rearranged.
  llvm::DenseSet<mlir::Operation *> exact;
  llvm::SmallVector<Partial> partials;
  /// Tasks are ranges of the outermost column loop instead of ranges of rows:
  /// each goes through all rows and adds up its columns in the output itself.
  bool isAcrossColumns = false;
  /// Rows (or columns) that one task should take at least.
  int64_t grain = 1;
  /// With partials, rows are cut into this fixed grid.
  int64_t blocks = 1, rowsPerBlock = 1;
  int64_t workspaceBytes = 0;

  static mlir::FailureOr<RowKernelPlan> make(mlir::func::FuncOp func);

  int64_t getNumRows() const;
  /// How far the range of the kernel's function goes: rows, blocks or columns.
  int64_t getNumSteps() const;
  int64_t getNumColumns() const;
  Role getRole(mlir::Operation *op) const { return roles.lookup(op); }
  /// Whether `op` is evaluated at every column.
  bool isInSweep(mlir::linalg::GenericOp op) const;
};

/// Loops of a group, outermost first, merged where all buffers allow it.
llvm::SmallVector<KernelLoop> collapseLoops(const KernelGroup &group);

/// Sets direction, grain and blocks from the work in a row and the size of the
/// partials.
void planGrid(RowKernelPlan &plan);

/// Work per element of evaluating the body of `op` once, in simple vector
/// operations.
double estimateWork(mlir::linalg::GenericOp op);

/// The operation that folds an element into accumulator `result` of `op`, null
/// if the body is no simple fold.
mlir::Operation *lookupCombiner(mlir::linalg::GenericOp op, unsigned result);

} // namespace dist

#endif // DIST_CONVERSION_ROWKERNELS_ROWKERNELPLAN_H
