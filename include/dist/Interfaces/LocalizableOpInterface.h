//===- LocalizableOpInterface.h - Ops that know positions -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_LOCALIZABLEOPINTERFACE_H
#define DIST_INTERFACES_LOCALIZABLEOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include "dist/Interfaces/LocalizableOpInterface.h.inc"

#endif // DIST_INTERFACES_LOCALIZABLEOPINTERFACE_H
