//===- TensorEntry.h - A tensor as the manifest has it ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TARGET_TENSORENTRY_H
#define DIST_LIB_TARGET_TENSORENTRY_H

#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace dist {

/// The logical form of a tensor of which a rank holds a block.
struct TensorEntry {
  llvm::StringRef dtype;
  llvm::SmallVector<int64_t> shape, dims;
  llvm::SmallVector<AxesAttr> axes; ///< null: not split

  /// The keys `dtype`, `shape`, `dims` and `axes` of the manifest.
  llvm::json::Object toJson() const;
};

/// How the manifest names `axis`: `tp`, `tp:(1)2`.
std::string getText(AxisAttr axis);

/// How the manifest names an element type: `f32`; empty where it cannot.
llvm::StringRef getDType(mlir::Type element);

/// The tensor whose block has the type of argument (or result) `index` of
/// `entry`: blocks are of equal size, so a dimension is as large as the block
/// times the devices that split it. Fails with a diagnostic where the logical
/// dimensions are malformed.
mlir::FailureOr<TensorEntry> describeArgument(mlir::func::FuncOp entry,
                                              unsigned index);
mlir::FailureOr<TensorEntry> describeResult(mlir::func::FuncOp entry,
                                            unsigned index);

} // namespace dist

#endif // DIST_LIB_TARGET_TENSORENTRY_H
