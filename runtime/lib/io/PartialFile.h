//===- PartialFile.h - Replacing a file at once -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_PARTIALFILE_H
#define DIST_RUNTIME_IO_PARTIALFILE_H

#include "io/Error.h"

#include <string>

namespace dist::io {

/// A file `FILE.dist-partial`, to be written and then put in FILE's place, so
/// that a failure leaves FILE as it was. It is locked against other runs, and
/// removed unless committed. A FILE that is there and not a regular file, such
/// as a device, is written as it is.
class PartialFile {
public:
  /// Creates the file, empty. Errors name FILE and the system's reason.
  static Expected<PartialFile> create(const std::string &file);

  PartialFile(PartialFile &&other) noexcept;
  PartialFile &operator=(PartialFile &&) = delete;
  ~PartialFile();

  /// Where to write.
  const std::string &getPath() const {
    return partial.empty() ? file : partial;
  }

  /// Puts what was written in FILE's place, in one step.
  Error commit();

private:
  PartialFile() = default;

  std::string file, partial; ///< `partial` is empty where FILE is a device
  int descriptor = -1;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_PARTIALFILE_H
