//===- RowEmitter.h - Scalar loops of one row kernel ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_ROWKERNELS_ROWEMITTER_H
#define DIST_CONVERSION_ROWKERNELS_ROWEMITTER_H

#include "RowKernelPlan.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dist {

/// Writes the loops of a planned group into the body of a function whose
/// arguments correspond to those of the group's function.
class RowEmitter {
public:
  /// `arguments` maps the arguments of the group's function; `workspace` may be
  /// null where the plan has no partials.
  RowEmitter(const RowKernelPlan &plan, mlir::ImplicitLocOpBuilder &b,
             mlir::IRMapping arguments, mlir::Value workspace);

  /// Emits rows [lo, hi); with partials, blocks [lo, hi) of rows; across
  /// columns, steps [lo, hi) of the outermost column loop.
  void emitRange(mlir::Value lo, mlir::Value hi);

  /// Emits `outputs = inits + partial of block 0 + partial of block 1 + ...`.
  void emitFinish();

private:
  using SweepBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange accumulators)>;

  void emitBlock(mlir::Value block);
  void emitAcrossColumns(mlir::Value lo, mlir::Value hi);
  llvm::SmallVector<mlir::Value> emitRows(mlir::Value lo, mlir::Value hi,
                                          mlir::ValueRange totals);
  llvm::SmallVector<mlir::Value> emitRow(mlir::Value row,
                                         mlir::ValueRange totals);
  void emitRowOps(unsigned level);
  void emitSweep(unsigned level);
  llvm::SmallVector<mlir::linalg::GenericOp>
  getReductions(unsigned level) const;
  llvm::SmallVector<mlir::Value> emitSweepBody(unsigned level,
                                               mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> emitNest(llvm::ArrayRef<KernelLoop> loops,
                                          mlir::ValueRange inits, bool isCostly,
                                          SweepBody body);
  void emitColumnReduction(mlir::linalg::GenericOp op);
  void emitFinish(const Partial &partial);
  void storeOutputs(unsigned level, bool inSweep);

  /// The value of `tensor`, read through `map` (in group dimensions), at the
  /// row and column at hand.
  mlir::Value fetch(mlir::Value tensor, mlir::AffineMap map);
  mlir::Value fetchInit(mlir::linalg::GenericOp op, unsigned result);
  /// Evaluates the body of `op` at the row and column at hand.
  llvm::SmallVector<mlir::Value> evaluate(mlir::linalg::GenericOp op,
                                          mlir::ValueRange accumulators);
  void cloneBodyOp(mlir::linalg::GenericOp op, mlir::Operation &inner,
                   mlir::IRMapping &map);
  mlir::Value loadElement(mlir::Value tensor, mlir::ValueRange at);
  mlir::Value capture(mlir::Value value);

  mlir::Value index(int64_t value);
  /// Position of an access in the flat view of its buffer.
  mlir::Value address(const Access &access);
  mlir::Value load(const Access &access);
  void store(mlir::Value value, const Access &access);
  /// `buffer` as a memref of rank 1 that covers all its elements.
  mlir::Value flatten(mlir::Value buffer);
  mlir::Value viewPartial(const Partial &partial);
  mlir::Value addressPartial(const Partial &partial, mlir::Value block);

  const RowKernelPlan &plan;
  mlir::ImplicitLocOpBuilder &b;
  mlir::IRMapping arguments;
  mlir::Value workspace;
  /// Where flat views of buffers go: the start of the function.
  llvm::DenseMap<mlir::Value, mlir::Value> views;
  /// Index of each dimension at hand; null for one that is merged into another.
  llvm::SmallVector<mlir::Value> indices;
  mlir::Value block;
  /// The range of the outermost column loop; null: all of it.
  mlir::Value columnLo, columnHi;
  /// Results of row scalars and row reductions of the row at hand.
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// Totals so far.
  llvm::DenseMap<mlir::Value, mlir::Value> running;
  /// Values at the row and column at hand.
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, mlir::Value> cache;
  /// Kept values that an earlier sweep has left in their output's row.
  llvm::DenseMap<mlir::Value, unsigned> inRow;
};

} // namespace dist

#endif // DIST_CONVERSION_ROWKERNELS_ROWEMITTER_H
