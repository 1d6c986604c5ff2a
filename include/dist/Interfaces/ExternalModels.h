//===- ExternalModels.h - Our interfaces on upstream ops --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_EXTERNALMODELS_H
#define DIST_INTERFACES_EXTERNALMODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace dist {

void registerArithExternalModels(mlir::DialectRegistry &registry);
void registerMathExternalModels(mlir::DialectRegistry &registry);

/// Gives the accepted `arith` and `math` ops (docs/accepted-ops.md) a sharding
/// rule, a derivative and a cost, once their dialects are loaded.
inline void registerExternalModels(mlir::DialectRegistry &registry) {
  registerArithExternalModels(registry);
  registerMathExternalModels(registry);
}

} // namespace dist

#endif // DIST_INTERFACES_EXTERNALMODELS_H
