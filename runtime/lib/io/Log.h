//===- Log.h - The JSON log and the progress line ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_LOG_H
#define DIST_RUNTIME_IO_LOG_H

#include "io/Error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dist::io {

/// What one step reports.
struct StepRecord {
  int64_t step = 0;
  double loss = 0, gradNorm = 0, lr = 0;
  double tokensPerSecond = 0, stepMs = 0;
  std::optional<double> mfu; ///< absent where the device's peak is not known
  double commShare = 0, bubbleShare = 0; ///< of the step's time, 0 to 1
  int64_t peakBytes = 0;
  int64_t nonfinite = 0;           ///< steps skipped so far
  std::optional<double> evalLoss;  ///< after this step, if evaluated
  std::span<const double> metrics; ///< in the order of Log's names
};

/// One JSON object a line and step. Floats are written so that they read back
/// as the same double; what is not finite, as null. Allocates in `open` only.
class Log {
public:
  /// `append` continues a file (a resumed run), else it is truncated.
  static Expected<Log> open(const std::string &path,
                            const std::vector<std::string> &metricNames,
                            bool append);

  Log(Log &&other) noexcept;
  Log &operator=(Log &&) = delete;
  ~Log();

  /// Writes one line, or on an error nothing of it.
  Error write(const StepRecord &record);

private:
  Log() = default;

  std::string path;
  std::vector<std::string> keys; ///< `,"NAME":`, escaped
  std::string line;              ///< as long as any line can be
  int descriptor = -1;
  int64_t fileBytes = -1; ///< so far; less than 0 of a device
};

/// One line on a terminal, rewritten at most ten times a second and at the last
/// step; plain lines where the output is not a terminal. Allocates nothing.
class Progress {
public:
  /// `terminal`: isatty(descriptor), or as a test likes it.
  Progress(int descriptor, bool terminal, int64_t steps)
      : descriptor(descriptor), terminal(terminal), steps(steps) {}

  void show(const StepRecord &record);

  /// Ends the line on a terminal, so that messages begin on one of their own.
  void finish();

private:
  int descriptor;
  bool terminal;
  int64_t steps;
  double meanMs = 0;     ///< moving mean of a step, for the time left
  double hiddenMs = 1e9; ///< since the line was last written
  bool lineOpen = false;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_LOG_H
