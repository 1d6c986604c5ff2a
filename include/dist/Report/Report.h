//===- Report.h - What a compiled step sends and computes -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_REPORT_REPORT_H
#define DIST_REPORT_REPORT_H

#include "dist/Transforms/MemoryPlan.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace dist {

/// A collective of the program and what it costs (docs/report.md).
struct CollectiveEntry {
  std::string op;                ///< `all_reduce`
  std::vector<std::string> axes; ///< `"tp":(1)2` for a sub-axis
  int64_t group = 1;             ///< devices that take part
  int64_t count = 0;             ///< executions by a rank in a step
  int64_t resultBytes = 0;       ///< of one execution, on one rank
  double wireBytes = 0;          ///< sent by a rank in one execution
  std::string phase;             ///< forward, backward, update
  std::string reason, value, loc;
};

struct Report {
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<std::pair<std::string, double>> compileMs; ///< by phase
  std::vector<CollectiveEntry> collectives;              ///< in program order
  int64_t modelFlops = 0;    ///< of the step on one device
  int64_t hardwareFlops = 0; ///< of all devices together
  /// Of every rank, as all run the same program. None before the phase
  /// *runtime*.
  std::optional<MemoryReport> memory;
  /// What the GEMM library allocates beside it during its calls, if measured.
  std::optional<int64_t> libraryBytes;

  int64_t getNumDevices() const;
};

/// Flops of one step: of `module`'s entry and what it calls, at the shapes that
/// stand there.
int64_t countFlops(mlir::ModuleOp module);

/// Fills in what the program in the phase *local* says: mesh, collectives,
/// hardware flops.
void collectFromLocal(mlir::ModuleOp module, Report &report);

void printJson(const Report &report, llvm::raw_ostream &os);
/// The same for people.
void printText(const Report &report, llvm::raw_ostream &os);

} // namespace dist

#endif // DIST_REPORT_REPORT_H
