//===- Log.cpp - The JSON log and the progress line -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Log.h"
#include "io/OutputFile.h"
#include "io/SafeTensorsHeader.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace dist::io;

/// More than any number takes, by std::to_chars or as an integer.
static constexpr size_t kNumberBytes = 32;

static constexpr const char *kKeys[] = {
    "{\"step\":",       ",\"loss\":",         ",\"grad_norm\":",
    ",\"lr\":",         ",\"tokens_per_s\":", ",\"step_ms\":",
    ",\"mfu\":",        ",\"comm_share\":",   ",\"bubble_share\":",
    ",\"peak_bytes\":", ",\"nonfinite\":",    ",\"eval_loss\":"};

static constexpr const char *kEnd = "}\n";

namespace {
/// Writes a line into a buffer that is known to be large enough.
class LineWriter {
public:
  explicit LineWriter(std::string &line)
      : begin(line.data()), next(begin), end(begin + line.size()) {}

  LineWriter &operator<<(std::string_view text) {
    next = std::copy(text.begin(), text.end(), next);
    return *this;
  }
  LineWriter &operator<<(int64_t value) {
    next = std::to_chars(next, end, value).ptr;
    return *this;
  }
  LineWriter &operator<<(std::optional<double> value) {
    if (!value || !std::isfinite(*value))
      return *this << std::string_view("null");
    next = std::to_chars(next, end, *value).ptr;
    return *this;
  }

  int64_t size() const { return next - begin; }

private:
  char *begin, *next, *end;
};
} // namespace

Expected<Log> Log::open(const std::string &path,
                        const std::vector<std::string> &metricNames,
                        bool append) {
  Log log;
  log.path = path;
  int mode = append ? O_APPEND : O_TRUNC;
  log.descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
  if (log.descriptor < 0)
    return makeError("cannot write log '%s': %s", path.c_str(),
                     std::strerror(errno));
  log.fileBytes = ::lseek(log.descriptor, 0, SEEK_END); // none of a device
  size_t bytes = std::strlen(kEnd);
  for (const char *key : kKeys)
    bytes += std::strlen(key) + kNumberBytes;
  for (const std::string &name : metricNames) {
    log.keys.push_back("," + quoteJson(name) + ":");
    bytes += log.keys.back().size() + kNumberBytes;
  }
  log.line.resize(bytes);
  return log;
}

Log::Log(Log &&other) noexcept
    : path(std::move(other.path)), keys(std::move(other.keys)),
      line(std::move(other.line)),
      descriptor(std::exchange(other.descriptor, -1)),
      fileBytes(other.fileBytes) {}

Log::~Log() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Error Log::write(const StepRecord &record) {
  LineWriter writer(line);
  writer << kKeys[0] << record.step;
  const std::optional<double> values[] = {
      record.loss,   record.gradNorm, record.lr,        record.tokensPerSecond,
      record.stepMs, record.mfu,      record.commShare, record.bubbleShare};
  const char *const *key = kKeys + 1;
  for (std::optional<double> value : values)
    writer << *key++ << value;
  writer << *key++ << record.peakBytes;
  writer << *key++ << record.nonfinite;
  if (record.evalLoss)
    writer << *key << record.evalLoss;
  size_t metrics = std::min(keys.size(), record.metrics.size());
  for (size_t i = 0; i < metrics; ++i)
    writer << keys[i] << std::optional<double>(record.metrics[i]);
  writer << kEnd;
  if (Error error = writeAll(descriptor, line.data(), writer.size())) {
    // Half a line would make the whole log unreadable.
    if (fileBytes >= 0)
      (void)::ftruncate(descriptor, fileBytes);
    return makeError("cannot write log '%s': %s", path.c_str(),
                     error.message().c_str());
  }
  fileBytes += fileBytes < 0 ? 0 : writer.size();
  return Error::success();
}

namespace {
/// A line of text on the stack; what does not fit is left out.
class ProgressLine {
public:
  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int written =
        std::vsnprintf(text + size, sizeof(text) - size, format, args);
    va_end(args);
    if (written > 0)
      size = std::min(size + written, sizeof(text) - 1);
  }

  /// `value` with three digits and a unit: 12.3k.
  void addCount(double value, const char *unit) {
    const char *suffix = "";
    for (const char *larger : {"k", "M", "G"})
      if (value >= 1000) {
        value /= 1000;
        suffix = larger;
      }
    add("  %.3g%s %s", value, suffix, unit);
  }

  void addTimeLeft(double seconds) {
    // Also catches what is not a number.
    if (!(seconds < 1e7))
      return;
    long whole = std::lround(seconds);
    if (whole >= 3600)
      add("  %ld:%02ld:%02ld left", whole / 3600, whole / 60 % 60, whole % 60);
    else
      add("  %ld:%02ld left", whole / 60, whole % 60);
  }

  char text[320];
  size_t size = 0;
};
} // namespace

void Progress::show(const StepRecord &record) {
  constexpr double kMinIntervalMs = 100;
  constexpr double kWeight = 0.1;
  meanMs =
      meanMs == 0 ? record.stepMs : meanMs + kWeight * (record.stepMs - meanMs);
  hiddenMs += record.stepMs;
  bool last = record.step >= steps;
  if (terminal && !last && !record.evalLoss && hiddenMs < kMinIntervalMs)
    return;
  hiddenMs = 0;
  ProgressLine line;
  if (terminal)
    line.add("\r\033[K");
  line.add("step %lld/%lld  loss %.4f", static_cast<long long>(record.step),
           static_cast<long long>(steps), record.loss);
  if (record.evalLoss)
    line.add("  eval loss %.4f", *record.evalLoss);
  line.add("  norm %.3g", record.gradNorm);
  line.addCount(record.tokensPerSecond, "tokens/s");
  if (record.mfu)
    line.add("  mfu %.1f%%", 100 * *record.mfu);
  line.add("  comm %.0f%%  bubble %.0f%%", 100 * record.commShare,
           100 * record.bubbleShare);
  if (record.nonfinite > 0)
    line.add("  %lld skipped", static_cast<long long>(record.nonfinite));
  if (!last)
    line.addTimeLeft(static_cast<double>(steps - record.step) * meanMs / 1000);
  if (!terminal || record.evalLoss)
    line.add("\n");
  lineOpen = terminal && !record.evalLoss;
  // Progress is for people: a closed pipe does not end a run.
  (void)writeAll(descriptor, line.text, line.size);
}

void Progress::finish() {
  if (std::exchange(lineOpen, false))
    (void)writeAll(descriptor, "\n", 1);
}
