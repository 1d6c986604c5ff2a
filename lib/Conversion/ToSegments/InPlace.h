//===- InPlace.h - Results that take the place of arguments -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_INPLACE_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_INPLACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dist {

/// For each result of `segment`, which `calls` are all calls of, the argument
/// whose memory it may take, or -1: at every call the argument is a parameter
/// or state of the entry that is not read later, and the result its new value.
llvm::SmallVector<int64_t>
findReplacedArguments(mlir::func::FuncOp segment,
                      llvm::ArrayRef<mlir::func::CallOp> calls);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_INPLACE_H
