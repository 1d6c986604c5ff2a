//===- OutputFile.cpp - A file written front to back ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dist::io;

Error dist::io::writeAll(int descriptor, const void *data, int64_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t written = ::write(descriptor, next, bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return Error::failure(written < 0 ? std::strerror(errno)
                                        : "nothing could be written");
    next += written;
    bytes -= written;
  }
  return Error::success();
}

static Error cannotWrite(const std::string &path, const char *reason) {
  return makeError("cannot write '%s': %s", path.c_str(), reason);
}

Expected<OutputFile> OutputFile::create(const std::string &path) {
  OutputFile file;
  file.descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor < 0)
    return cannotWrite(path, std::strerror(errno));
  file.path = path;
  struct stat status;
  file.isRegular =
      ::fstat(file.descriptor, &status) == 0 && S_ISREG(status.st_mode);
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)),
      descriptor(std::exchange(other.descriptor, -1)),
      isRegular(other.isRegular) {}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  remove();
}

void OutputFile::remove() {
  if (isRegular)
    ::unlink(path.c_str());
}

Error OutputFile::append(const void *data, int64_t bytes) {
  if (Error error = writeAll(descriptor, data, bytes))
    return cannotWrite(path, error.message().c_str());
  return Error::success();
}

Error OutputFile::finish() {
  // Some file systems report a full disk only here.
  if (isRegular && ::fsync(descriptor) != 0)
    return cannotWrite(path, std::strerror(errno));
  if (::close(std::exchange(descriptor, -1)) == 0)
    return Error::success();
  Error error = cannotWrite(path, std::strerror(errno));
  remove();
  return error;
}
