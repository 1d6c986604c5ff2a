//===- Options.h - The command line of a compiled program -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_OPTIONS_H
#define DIST_RUNTIME_CORE_OPTIONS_H

#include "io/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dist {

/// What the user typed. Absent strings are empty.
struct Options {
  std::vector<std::string> data, evalData;
  std::optional<int64_t> steps;
  std::optional<uint64_t> seed;
  std::optional<double> lr;
  double minLr = 0;
  int64_t warmup = 0, evalEvery = 0, saveEvery = 0;
  std::string decay, log, save, load, loadParams, trace, inputs, dump;
  bool stopOnNonFinite = false, help = false, manifest = false;

  /// Reads `--name value` and `--name=value`. An error names the option and
  /// what it wants.
  static io::Expected<Options> parse(int argc, const char *const *argv);

  /// What `--help` prints, a line an option.
  static std::string getHelp(const std::string &program);
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_OPTIONS_H
