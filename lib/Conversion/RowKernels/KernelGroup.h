//===- KernelGroup.h - The linalg ops of one kernel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_ROWKERNELS_KERNELGROUP_H
#define DIST_CONVERSION_ROWKERNELS_KERNELGROUP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dist {

/// Where an element of a buffer lies, as a linear form of the dimensions of the
/// group: `offset + sum_d strides[d] * index_d`, in elements, beyond the offset
/// of the memref's own layout.
struct Access {
  mlir::Value buffer;
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
};

/// A tensor that the function leaves in a buffer.
struct KernelOutput {
  mlir::Value tensor;
  mlir::Value buffer;
  mlir::Operation *op;
};

/// The ops of a `dist.kernel` function and the dimensions they share. Loops of
/// two ops are the same dimension where one op reads what the other computes,
/// or where both read the same buffer; a group is one iteration space.
class KernelGroup {
public:
  /// Reads `func`; reports what it cannot be part of a row kernel.
  static mlir::FailureOr<KernelGroup> read(mlir::func::FuncOp func);

  mlir::func::FuncOp getFunc() const { return func; }
  llvm::ArrayRef<mlir::linalg::GenericOp> getGenerics() const {
    return generics;
  }
  llvm::ArrayRef<KernelOutput> getOutputs() const { return outputs; }

  /// Sizes of the dimensions, outermost first.
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }

  /// The dimension that loop `loop` of `op` is.
  unsigned getDim(mlir::linalg::GenericOp op, unsigned loop) const {
    return dims.find(op)->second[loop];
  }
  llvm::ArrayRef<unsigned> getDims(mlir::linalg::GenericOp op) const {
    return dims.find(op)->second;
  }

  /// `map`, an indexing map of `op`, in the dimensions of the group.
  mlir::AffineMap getGroupMap(mlir::linalg::GenericOp op,
                              mlir::AffineMap map) const;

  /// How `map` (in group dimensions) reaches into `buffer`.
  Access getAccess(mlir::Value buffer, mlir::AffineMap map) const;

  /// How output `output` is written: by the result map of what computes it.
  Access getAccess(const KernelOutput &output) const;

private:
  explicit KernelGroup(mlir::func::FuncOp func) : func(func) {}

  mlir::LogicalResult collect();
  mlir::LogicalResult shareDims();
  mlir::LogicalResult checkMaps() const;
  mlir::LogicalResult checkBodies() const;
  mlir::LogicalResult checkOutputs() const;

  mlir::func::FuncOp func;
  llvm::SmallVector<mlir::linalg::GenericOp> generics;
  llvm::SmallVector<KernelOutput> outputs;
  llvm::SmallVector<int64_t> sizes;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> dims;
};

/// The memref behind a tensor that `bufferization.to_tensor` made, or null.
mlir::Value lookupBuffer(mlir::Value tensor);

} // namespace dist

#endif // DIST_CONVERSION_ROWKERNELS_KERNELGROUP_H
