//===- CpuFeatures.cpp - What instructions this machine has ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/CpuFeatures.h"

#include <optional>
#include <string_view>

using namespace dist;

/// Whether this machine has `name`; nothing if the runtime cannot tell.
static std::optional<bool> hasFeature(std::string_view name) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define DIST_CPU_FEATURE(feature)                                              \
  if (name == feature)                                                         \
    return __builtin_cpu_supports(feature) != 0;
#include "dist/cpu-features.def"
#endif
  return std::nullopt;
}

io::Error dist::checkCpuFeatures(const std::vector<std::string> &features) {
  for (const std::string &feature : features) {
    std::optional<bool> has = hasFeature(feature);
    if (!has)
      return io::makeError("the program needs the CPU feature '%s', which this "
                           "runtime does not know",
                           feature.c_str());
    if (!*has)
      return io::makeError(
          "this CPU lacks '%s', which the program was compiled "
          "for; compile it with --cpu for this machine",
          feature.c_str());
  }
  return io::Error::success();
}
