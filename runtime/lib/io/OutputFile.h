//===- OutputFile.h - A file written front to back --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_OUTPUTFILE_H
#define DIST_RUNTIME_IO_OUTPUTFILE_H

#include "io/Error.h"

#include <cstdint>
#include <string>

namespace dist::io {

/// Creates or truncates a file; removes it again unless `finish` succeeded.
/// What is not a regular file, such as a device, is written to but never
/// removed. Errors name the path and the system's reason.
class OutputFile {
public:
  static Expected<OutputFile> create(const std::string &path);

  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  const std::string &getPath() const { return path; }

  Error append(const void *data, int64_t bytes);

  /// Flushes to the device and closes.
  Error finish();

private:
  OutputFile() = default;

  void remove();

  std::string path;
  int descriptor = -1;
  bool isRegular = false;
};

/// Writes all of `data` to a descriptor, however the system cuts it. The error
/// is the system's reason alone.
Error writeAll(int descriptor, const void *data, int64_t bytes);

} // namespace dist::io

#endif // DIST_RUNTIME_IO_OUTPUTFILE_H
