//===- PartialFile.cpp - Replacing a file at once -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/PartialFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

using namespace dist::io;

namespace fs = std::filesystem;

static Error cannotWrite(const std::string &file, const std::string &reason) {
  return makeError("cannot write '%s': %s", file.c_str(), reason.c_str());
}

Expected<PartialFile> PartialFile::create(const std::string &file) {
  std::error_code failure;
  // A link is written through, so the name beside it must be the target's.
  fs::path path = fs::weakly_canonical(file, failure);
  if (failure)
    return cannotWrite(file, failure.message());
  fs::file_status status = fs::status(path, failure);
  if (fs::is_directory(status))
    return makeError("'%s' is a folder, expected a file", file.c_str());
  PartialFile result;
  result.file = path.string();
  if (fs::exists(status) && !fs::is_regular_file(status))
    return ::access(path.c_str(), W_OK) == 0
               ? Expected<PartialFile>(std::move(result))
               : cannotWrite(file, std::strerror(errno));
  std::string partial = result.file + ".dist-partial";
  int lock = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0)
    return cannotWrite(file, std::strerror(errno));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock);
    return cannotWrite(file, "another run is writing it");
  }
  result.partial = std::move(partial);
  result.descriptor = lock;
  return result;
}

PartialFile::PartialFile(PartialFile &&other) noexcept
    : file(std::move(other.file)), partial(std::move(other.partial)),
      descriptor(std::exchange(other.descriptor, -1)) {}

PartialFile::~PartialFile() {
  if (descriptor < 0)
    return;
  ::unlink(partial.c_str());
  ::close(descriptor);
}

Error PartialFile::commit() {
  if (descriptor < 0)
    return Error::success();
  if (::rename(partial.c_str(), file.c_str()) != 0)
    return cannotWrite(file, std::strerror(errno));
  ::close(std::exchange(descriptor, -1));
  return Error::success();
}
