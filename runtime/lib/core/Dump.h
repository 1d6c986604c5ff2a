//===- Dump.h - The file of --dump ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_DUMP_H
#define DIST_RUNTIME_CORE_DUMP_H

#include "core/GradientTap.h"
#include "core/TensorStore.h"

namespace dist {

/// Writes `scalars` by their names (`loss`, `grad_norm`), every parameter as
/// `param:NAME` and every gradient of `tap` (null: none) as `grad:NAME`, each
/// at its logical shape. A file at `path` is replaced once all is written.
io::Error writeDump(const std::string &path, const TensorStore &store,
                    std::span<const TensorInfo *const> scalars,
                    const GradientTap *tap);

} // namespace dist

#endif // DIST_RUNTIME_CORE_DUMP_H
