//===- DecomposableOpInterface.cpp - Ops made of simpler ops --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interfaces/DecomposableOpInterface.h"

#include "dist/Interfaces/DecomposableOpInterface.cpp.inc"
