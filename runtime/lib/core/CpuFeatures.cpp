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
#define DIST_FEATURE(llvmName, builtinName)                                    \
  if (name == llvmName)                                                        \
    return __builtin_cpu_supports(builtinName) != 0;
  DIST_FEATURE("sse", "sse")
  DIST_FEATURE("sse2", "sse2")
  DIST_FEATURE("sse3", "sse3")
  DIST_FEATURE("ssse3", "ssse3")
  DIST_FEATURE("sse4.1", "sse4.1")
  DIST_FEATURE("sse4.2", "sse4.2")
  DIST_FEATURE("popcnt", "popcnt")
  DIST_FEATURE("avx", "avx")
  DIST_FEATURE("avx2", "avx2")
  DIST_FEATURE("fma", "fma")
  DIST_FEATURE("f16c", "f16c")
  DIST_FEATURE("bmi", "bmi")
  DIST_FEATURE("bmi2", "bmi2")
  DIST_FEATURE("lzcnt", "lzcnt")
  DIST_FEATURE("movbe", "movbe")
  DIST_FEATURE("avx512f", "avx512f")
  DIST_FEATURE("avx512vl", "avx512vl")
  DIST_FEATURE("avx512bw", "avx512bw")
  DIST_FEATURE("avx512dq", "avx512dq")
  DIST_FEATURE("avx512cd", "avx512cd")
  DIST_FEATURE("avx512vnni", "avx512vnni")
  DIST_FEATURE("avx512bf16", "avx512bf16")
#undef DIST_FEATURE
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
