//===- LocalizableOpInterface.cpp - Ops that know positions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interfaces/LocalizableOpInterface.h"

#include "dist/Interfaces/LocalizableOpInterface.cpp.inc"
