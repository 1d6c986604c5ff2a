//===- DecomposableOpInterface.h - Ops made of simpler ops ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_DECOMPOSABLEOPINTERFACE_H
#define DIST_INTERFACES_DECOMPOSABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dist/Interfaces/DecomposableOpInterface.h.inc"

#endif // DIST_INTERFACES_DECOMPOSABLEOPINTERFACE_H
