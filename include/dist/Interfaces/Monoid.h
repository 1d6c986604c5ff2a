//===- Monoid.h - How partial values come together --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_MONOID_H
#define DIST_INTERFACES_MONOID_H

#include "mlir/IR/BuiltinAttributes.h"

#include "dist/Interfaces/Monoid.h.inc"

#endif // DIST_INTERFACES_MONOID_H
