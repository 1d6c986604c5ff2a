//===- ManifestActions.h - Reading the actions of a manifest ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_MANIFESTACTIONS_H
#define DIST_RUNTIME_CORE_MANIFESTACTIONS_H

#include "core/Json.h"
#include "core/Manifest.h"

namespace dist {

/// Reads a list of actions; the rest of `manifest` is complete.
std::vector<Action> readActions(const JsonValue &json, int64_t numSegments,
                                const Manifest &manifest);

dist_dtype readDType(const JsonValue &json);

/// Reads what tensors and gradients share: name, type, shape, dims and axes.
void readTensorCommon(const JsonValue &json, const Manifest &manifest,
                      TensorInfo &tensor);

/// Fails unless `count` elements at byte `offset` are aligned and in the arena.
void checkRange(const JsonValue &json, const Manifest &manifest, int64_t offset,
                int64_t count, dist_dtype dtype);

} // namespace dist

#endif // DIST_RUNTIME_CORE_MANIFESTACTIONS_H
