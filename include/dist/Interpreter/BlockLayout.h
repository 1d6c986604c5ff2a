//===- BlockLayout.h - Global tensors cut into ranks' blocks ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_BLOCKLAYOUT_H
#define DIST_INTERPRETER_BLOCKLAYOUT_H

#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Interpreter/Tensor.h"

namespace dist::interp {

/// How a tensor of logical shape lies on the ranks: its dimensions are
/// regrouped, row-major, into those that are stored, and these are cut into
/// blocks.
class BlockLayout {
public:
  /// What the attributes of an argument or result say.
  struct Spec {
    mlir::RankedTensorType type; ///< on one rank
    ShardingAttr sharding;       ///< null: the same on all ranks
    mlir::StringAttr logical;    ///< null: stored as it is
    MeshOp mesh;                 ///< null: on one rank
    /// The logical shape if it is known: the blocks of a dimension that its
    /// axes do not divide only bound its size.
    std::optional<llvm::ArrayRef<int64_t>> shape;
  };

  static mlir::FailureOr<BlockLayout>
  get(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
      const Spec &spec);

  llvm::ArrayRef<int64_t> getLogicalShape() const { return logical; }

  /// The block of every rank; padding is poison.
  RankTensors cut(const Tensor &global) const;

  /// The whole from the blocks. Ranks that hold the same block must agree bit
  /// for bit; else an error names them.
  mlir::FailureOr<Tensor>
  assemble(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
           const RankTensors &blocks) const;

private:
  /// What of a rank's block is not padding.
  struct Block {
    Shape begin, sizes;
  };
  Block getBlock(int64_t rank) const;
  int64_t getNumRanks() const;
  std::vector<int64_t> getGlobalOffsets(const Block &block) const;

  mlir::LogicalResult
  groupDims(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
            const Spec &spec);
  mlir::LogicalResult
  adoptShape(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             llvm::ArrayRef<int64_t> shape);
  bool adoptSize(llvm::ArrayRef<unsigned> dims, int64_t size);

  MeshOp mesh;
  Shape local, stored, logical;
  /// Stored dimensions of each logical one.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> groups;
  llvm::SmallVector<llvm::SmallVector<AxisAttr, 1>> axes; ///< by stored dim
};

} // namespace dist::interp

#endif // DIST_INTERPRETER_BLOCKLAYOUT_H
