//===- CommandLine.h - What distc is asked to do ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TOOLS_DISTC_COMMANDLINE_H
#define DIST_TOOLS_DISTC_COMMANDLINE_H

#include "dist/Pipelines/Pipelines.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace dist {

/// What distc is asked to do: its flags, among which each key of the plan.
struct CommandLine {
  std::string model;
  std::string output; ///< the program, or with `emit` the text
  std::string emit;   ///< a phase; empty: none
  std::string report; ///< a JSON file
  std::string target = "host";
  std::string cpu, cudaArch;
  bool explain = false, dryRun = false, verifyAgainstStep = false;
  bool help = false;
  PipelineOptions options;
  /// Flags of MLIR itself, `--mlir-…`, with their values.
  std::vector<std::string> mlirFlags;
};

/// Reads the arguments behind the program's name; a plan file first, then the
/// flags over it. Fails on what is unknown, contradicts itself or is not
/// supported.
llvm::Expected<CommandLine> parseCommandLine(llvm::ArrayRef<const char *> args);

void printHelp(llvm::raw_ostream &os);

} // namespace dist

#endif // DIST_TOOLS_DISTC_COMMANDLINE_H
