//===- FailureReport.h - What is told of a run that failed ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_FAILUREREPORT_H
#define DIST_RUNTIME_CORE_FAILUREREPORT_H

#include "core/Rank.h"

namespace dist {

/// Prints the failure of `backend` as one line, then, unless it was the input's
/// fault, the last operations of each of `ranks`, to standard error and to a
/// file that the output names.
void reportFailure(const Backend &backend,
                   const std::vector<dist_rank *> &ranks);

} // namespace dist

#endif // DIST_RUNTIME_CORE_FAILUREREPORT_H
