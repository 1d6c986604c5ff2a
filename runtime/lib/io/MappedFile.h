//===- MappedFile.h - A file mapped for reading -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_MAPPEDFILE_H
#define DIST_RUNTIME_IO_MAPPEDFILE_H

#include "io/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dist::io {

/// A regular file, mapped read-only; its bytes stay where they are when this
/// object moves. The file must not shrink while it is mapped.
class MappedFile {
public:
  static Expected<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const std::string &getPath() const { return path; }
  const std::byte *data() const { return bytes; }
  int64_t size() const { return length; }

private:
  MappedFile() = default;

  std::string path;
  const std::byte *bytes = nullptr; ///< null if the file is empty
  int64_t length = 0;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_MAPPEDFILE_H
