//===- CpuFeatures.h - What instructions this machine has -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_CPUFEATURES_H
#define DIST_RUNTIME_CORE_CPUFEATURES_H

#include "io/Error.h"

#include <string>
#include <vector>

namespace dist {

/// An error if this machine lacks one of `features` (LLVM's names) or the
/// runtime does not know it.
io::Error checkCpuFeatures(const std::vector<std::string> &features);

} // namespace dist

#endif // DIST_RUNTIME_CORE_CPUFEATURES_H
