//===- KernelWriter.h - Ops of a group as generics --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_KERNELWRITER_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_KERNELWRITER_H

#include "SegmentBuilder.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "llvm/ADT/SetVector.h"
#include <variant>

namespace dist {

/// Writes the ops of a group as `linalg.generic`s of a kernel function.
class KernelWriter {
public:
  KernelWriter(SegmentBuilder &segment, llvm::ArrayRef<mlir::Operation *> ops);

  /// Writes the kernel; its buffers are `inputs`, then those of `outputs` that
  /// are not computed in place.
  mlir::func::FuncOp write();
  /// The input in whose place `output` is computed.
  std::optional<unsigned> getReplaced(mlir::Value output) const;

  llvm::ArrayRef<mlir::Value> getInputs() const { return inputs.getArrayRef(); }
  llvm::ArrayRef<mlir::Value> getOutputs() const {
    return outputs.getArrayRef();
  }
  /// A position in a global tensor: axes and block size of a scalar i64 buffer.
  struct Offset {
    PlaceAttr place;
    unsigned dim;
    int64_t block;
  };
  /// What the kernel reads behind its outputs: a position, or the tables of
  /// cosines and sines of a `rope`, of `getAngleType`.
  using Extra = std::variant<Offset, nn::RopeOp>;
  llvm::ArrayRef<Extra> getExtras() const { return extras; }

  /// Writes the kernel of the tables of `op`; its buffers are the positions,
  /// the frequencies if they are given, cosines and sines.
  mlir::func::FuncOp writeAngles(nn::RopeOp op);
  /// Positions by pairs.
  static mlir::RankedTensorType getAngleType(nn::RopeOp op);

  static void populateStructural(class OpLowerings &lowerings);
  static void populateIndexing(OpLowerings &lowerings);

private:
  using Body = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                              mlir::ValueRange)>;
  void collect();
  /// An empty kernel with arguments of `types`, the rank in front.
  void createKernel(mlir::TypeRange types);
  void writeOp(mlir::Operation *op);
  mlir::Value writeElementwise(mlir::Operation *op);
  mlir::Value writeRepeat(nn::RepeatOp op);
  mlir::Value writeReduce(nn::ReduceOp op);
  mlir::Value writeIota(nn::IotaOp op);
  mlir::Value writeDropout(nn::DropoutOp op);
  mlir::Value writeEmbedding(nn::EmbeddingOp op);
  mlir::Value writeRope(nn::RopeOp op);
  mlir::Value writeEinsum(nn::EinsumOp op);
  mlir::Value writeTake(nn::TakeOp op);
  mlir::Value writeGather(nn::GatherOp op);
  mlir::Value writeReverse(nn::ReverseOp op);
  /// A generic that sums `operands` by `maps` into a tensor of `type`.
  mlir::Value writeSum(mlir::RankedTensorType type, mlir::ValueRange operands,
                       llvm::ArrayRef<mlir::AffineMap> maps,
                       mlir::AffineMap resultMap,
                       llvm::ArrayRef<mlir::utils::IteratorType> iterators,
                       Body term);
  /// A generic that is parallel along every dimension of the result.
  mlir::Value writeMap(mlir::RankedTensorType type, mlir::ValueRange operands,
                       llvm::ArrayRef<mlir::AffineMap> maps, Body body);
  /// Global position of the element along dimension `dim`, as i64.
  mlir::Value getPosition(mlir::ImplicitLocOpBuilder &nested, unsigned dim,
                          mlir::Value offset);
  mlir::Value getOffset(PlaceAttr place, unsigned dim, int64_t block);
  mlir::AffineMap getMap(nn::TermAttr term, nn::TermAttr result);
  mlir::Value lookup(mlir::Value value);
  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }

  SegmentBuilder &segment;
  llvm::ArrayRef<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<Extra> extras;
  mlir::ImplicitLocOpBuilder b;
  mlir::func::FuncOp kernel;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
};

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_KERNELWRITER_H
