//===- MappedFile.cpp - A file mapped for reading -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dist::io;

Expected<MappedFile> MappedFile::open(const std::string &path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would hang.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return makeError("cannot open '%s': %s", path.c_str(),
                     std::strerror(errno));
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return makeError("'%s' is %s; expected a file", path.c_str(),
                     S_ISDIR(status.st_mode) ? "a folder" : "not a file");
  }
  MappedFile file;
  file.path = path;
  file.length = status.st_size;
  void *bytes = nullptr;
  if (file.length > 0)
    bytes = ::mmap(nullptr, file.length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int failure = errno;
  ::close(descriptor);
  if (bytes == MAP_FAILED) {
    file.length = 0;
    return makeError("cannot map '%s': %s", path.c_str(),
                     std::strerror(failure));
  }
  file.bytes = static_cast<const std::byte *>(bytes);
  return file;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : path(std::move(other.path)), bytes(std::exchange(other.bytes, nullptr)),
      length(std::exchange(other.length, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(bytes, other.bytes);
  std::swap(length, other.length);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes)
    ::munmap(const_cast<std::byte *>(bytes), length);
}
