//===- Segments.h - The lowered bodies of a program's segments --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TRANSFORMS_MEMORY_SEGMENTS_H
#define DIST_LIB_TRANSFORMS_MEMORY_SEGMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dist {

/// Bytes of a tensor or memref of static shape, stored contiguously; an i1
/// takes a byte.
int64_t getByteSize(mlir::ShapedType type);

/// Finds the function `@SEG_body` of a segment `@SEG` and what it says of its
/// buffers.
class Segments {
public:
  explicit Segments(mlir::ModuleOp module);

  /// The body that `call` runs. Fails with a diagnostic if there is none, or if
  /// its memrefs are not the tensors of the call and a workspace.
  mlir::FailureOr<mlir::func::FuncOp> lookupBody(mlir::func::CallOp call) const;

  static int64_t getWorkspaceBytes(mlir::func::FuncOp body);

  /// The argument in whose place `body` computes result `result`, or -1.
  static int64_t lookupInPlaceArgument(mlir::func::FuncOp body, int64_t result);

private:
  llvm::StringMap<mlir::func::FuncOp> bodies;
};

} // namespace dist

#endif // DIST_LIB_TRANSFORMS_MEMORY_SEGMENTS_H
