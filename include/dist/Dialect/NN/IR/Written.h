//===- Written.h - What a plan changed in a model ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_DIALECT_NN_IR_WRITTEN_H
#define DIST_DIALECT_NN_IR_WRITTEN_H

#include "llvm/ADT/StringRef.h"

namespace dist::nn {

/// Argument attribute: the element type in the model, where the plan's
/// precision changed it.
inline constexpr llvm::StringLiteral kWrittenAttrName = "nn.written";

} // namespace dist::nn

#endif // DIST_DIALECT_NN_IR_WRITTEN_H
