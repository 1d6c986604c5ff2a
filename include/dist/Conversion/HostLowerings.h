//===- HostLowerings.h - Which ops have code on the host --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_CONVERSION_HOSTLOWERINGS_H
#define DIST_CONVERSION_HOSTLOWERINGS_H

#include "mlir/IR/OperationSupport.h"
#include <string>

namespace dist {

/// The ways in which `op` becomes code of the host target, of `kernel`, `view`
/// and `call`; empty if there is none.
std::string describeHostLowering(mlir::RegisteredOperationName op);

} // namespace dist

#endif // DIST_CONVERSION_HOSTLOWERINGS_H
