//===- OpLowerings.h - How ops become code, by op ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_OPLOWERINGS_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_OPLOWERINGS_H

#include "SegmentBuilder.h"
#include <functional>

namespace dist {

class KernelWriter;

/// What a kernel reads of an op's operands.
enum class Reads {
  Elements, ///< of the place that is written
  Buffers,  ///< also elsewhere, splats included
  Indexed,  ///< operand 0 anywhere: it is in memory before the kernel starts
};

/// Indices that a kernel trusts: they are checked in front of it.
struct CheckedIndices {
  mlir::Value ids;
  int64_t bound;
};

/// The ways in which an op can become code of the host target. Absent ones are
/// null.
struct OpLowering {
  /// As a generic of a row kernel, where `fits` does not say no.
  std::function<mlir::Value(KernelWriter &, mlir::Operation *)> write;
  std::function<bool(mlir::Operation *)> fits;
  Reads reads = Reads::Elements;
  std::function<CheckedIndices(mlir::Operation *)> indices;
  /// On one element, for elementwise ops.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Operation *,
                            mlir::ValueRange)>
      element;
  /// As another view of the operand's buffer; false where that does not fit.
  std::function<bool(SegmentBuilder &, mlir::Operation *)> view;
  /// As calls of the runtime, loops or copies.
  std::function<mlir::LogicalResult(SegmentBuilder &, mlir::Operation *)> call;
};

/// Lowerings by op, added by family: see `populate…Lowerings`.
class OpLowerings {
public:
  static const OpLowerings &get();

  template <typename OpTy>
  OpLowering &addKernel(mlir::Value (KernelWriter::*write)(OpTy),
                        Reads reads = Reads::Elements) {
    OpLowering &lowering = of<OpTy>();
    lowering.reads = reads;
    lowering.write = [write](KernelWriter &writer, mlir::Operation *op) {
      return (writer.*write)(mlir::cast<OpTy>(op));
    };
    return lowering;
  }
  template <typename OpTy>
  void addElement(mlir::Value (*element)(mlir::ImplicitLocOpBuilder &, OpTy,
                                         mlir::ValueRange)) {
    of<OpTy>().element = [element](mlir::ImplicitLocOpBuilder &b,
                                   mlir::Operation *op,
                                   mlir::ValueRange elements) {
      return element(b, mlir::cast<OpTy>(op), elements);
    };
  }
  template <typename OpTy>
  void addView(bool (*view)(SegmentBuilder &, OpTy)) {
    of<OpTy>().view = [view](SegmentBuilder &b, mlir::Operation *op) {
      return view(b, mlir::cast<OpTy>(op));
    };
  }
  template <typename OpTy>
  void addCall(mlir::LogicalResult (*call)(SegmentBuilder &, OpTy)) {
    of<OpTy>().call = [call](SegmentBuilder &b, mlir::Operation *op) {
      return call(b, mlir::cast<OpTy>(op));
    };
  }
  template <typename OpTy>
  void addIndices(CheckedIndices (*indices)(OpTy)) {
    of<OpTy>().indices = [indices](mlir::Operation *op) {
      return indices(mlir::cast<OpTy>(op));
    };
  }

  /// Null where nothing was added.
  const OpLowering *lookup(mlir::TypeID op) const {
    auto it = lowerings.find(op);
    return it == lowerings.end() ? nullptr : it->second.get();
  }
  const OpLowering *lookup(mlir::Operation *op) const {
    return lookup(op->getName().getTypeID());
  }

private:
  template <typename OpTy>
  OpLowering &of() {
    auto &lowering = lowerings[mlir::TypeID::get<OpTy>()];
    if (!lowering)
      lowering = std::make_unique<OpLowering>();
    return *lowering;
  }
  llvm::DenseMap<mlir::TypeID, std::unique_ptr<OpLowering>> lowerings;
};

void populateScalarLowerings(OpLowerings &lowerings);
void populateStructuralLowerings(OpLowerings &lowerings);
void populateIndexingLowerings(OpLowerings &lowerings);
void populateEinsumLowerings(OpLowerings &lowerings);
void populateAttentionLowerings(OpLowerings &lowerings);
void populateCollectiveLowerings(OpLowerings &lowerings);
void populateMoveLowerings(OpLowerings &lowerings);
void populateViewLowerings(OpLowerings &lowerings);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_OPLOWERINGS_H
