//===- CheckpointFolder.cpp - Replacing a folder of files at once ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/CheckpointFolder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace dist::io;

namespace fs = std::filesystem;

std::string dist::io::getShardName(size_t shard, size_t numShards) {
  char name[80];
  std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", shard,
                numShards);
  return name;
}

bool dist::io::isCheckpointFile(const std::string &name) {
  size_t shard = 0, numShards = 0;
  if (name == kIndexName)
    return true;
  return std::sscanf(name.c_str(), "model-%zu-of-%zu.safetensors", &shard,
                     &numShards) == 2 &&
         name == getShardName(shard, numShards);
}

static bool exists(const std::string &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

static bool isFolder(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string dist::io::findCheckpoint(const std::string &folder) {
  std::string previous = folder;
  while (previous.size() > 1 && previous.back() == '/')
    previous.pop_back();
  previous += ".dist-previous";
  return !exists(folder) && isFolder(previous) ? previous : folder;
}

/// The names in a folder; none if it cannot be read.
static std::vector<std::string> listFolder(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure), end;
  for (; !failure && entry != end; entry.increment(failure))
    names.push_back(entry->path().filename().string());
  return names;
}

/// Deletes the files of a checkpoint, moves all others to `heir` unless there
/// is one of that name, and deletes the folder if that emptied it.
static void dissolve(const std::string &folder, const std::string &heir) {
  for (const std::string &name : listFolder(folder)) {
    std::string path = folder + "/" + name, target = heir + "/" + name;
    if (isCheckpointFile(name))
      ::unlink(path.c_str());
    else if (isFolder(heir))
      ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, target.c_str(),
                  RENAME_NOREPLACE);
  }
  ::rmdir(folder.c_str());
}

static Error systemError(const char *what, const std::string &path) {
  return makeError("cannot %s '%s': %s", what, path.c_str(),
                   std::strerror(errno));
}

/// Makes renames in `folder` outlive a loss of power.
static void flushFolder(const std::string &folder) {
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor);
  ::close(descriptor);
}

static Error unusable(const std::string &folder, const std::string &reason) {
  return makeError("'%s' cannot hold a checkpoint: %s", folder.c_str(),
                   reason.c_str());
}

/// True if `path` is `folder` or inside it.
static bool isWithin(const fs::path &path, const fs::path &folder) {
  auto [end, rest] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

/// The folder's absolute name without symbolic links and trailing slashes, so
/// that what stands beside it is on the same file system.
static Expected<std::string> resolve(const std::string &folder) {
  std::error_code failure;
  // Absolute first: where nothing of a path exists, weakly_canonical leaves it
  // relative, and a bare name has no parent.
  fs::path working = fs::current_path(failure);
  fs::path path = fs::weakly_canonical(working / folder, failure);
  if (failure)
    return unusable(folder, failure.message());
  if (!path.has_filename()) // a trailing slash of a folder that is not there
    path = path.parent_path();
  if (folder.empty() || !path.has_filename())
    return unusable(folder, "expected the name of a folder");
  if (isWithin(working, path)) // it would be gone once the folder is replaced
    return unusable(folder, "it is, or holds, the working folder");
  if (exists(path.string()) && !isFolder(path.string()))
    return unusable(folder, "it is not a folder");
  return path.string();
}

Expected<PartialFolder> PartialFolder::create(const std::string &folder) {
  Expected<std::string> resolved = resolve(folder);
  if (!resolved)
    return resolved.takeError();
  PartialFolder result;
  result.folder = *resolved;
  result.partial = *resolved + ".dist-partial";
  result.previous = *resolved + ".dist-previous";
  if (Error error = result.prepare())
    return error;
  return result;
}

Error PartialFolder::prepare() {
  std::error_code failure;
  fs::create_directories(fs::path(folder).parent_path(), failure);
  if (failure)
    return makeError("cannot create the folder of '%s': %s", folder.c_str(),
                     failure.message().c_str());
  if (::mkdir(partial.c_str(), 0777) != 0 && errno != EEXIST)
    return systemError("create", partial);
  int lock = ::open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    return systemError("open", partial);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock);
    return makeError("another run is saving to '%s'", folder.c_str());
  }
  descriptor = lock;
  struct stat own, place;
  if (::fstat(lock, &own) == 0 && ::stat(folder.c_str(), &place) == 0 &&
      own.st_dev != place.st_dev)
    return unusable(folder, "it is a mount point; expected a folder inside it");
  if (!exists(folder) && isFolder(previous))
    ::rename(previous.c_str(), folder.c_str());
  else
    dissolve(previous, folder);
  for (const std::string &name : listFolder(partial))
    if (isCheckpointFile(name))
      ::unlink((partial + "/" + name).c_str());
  return Error::success();
}

PartialFolder::PartialFolder(PartialFolder &&other) noexcept
    : folder(std::move(other.folder)), partial(std::move(other.partial)),
      previous(std::move(other.previous)),
      descriptor(std::exchange(other.descriptor, -1)) {}

PartialFolder::~PartialFolder() {
  if (descriptor < 0)
    return;
  dissolve(partial, folder);
  ::close(descriptor);
}

/// Some network file systems cannot exchange: then two renames, between which
/// `previous` is the checkpoint.
Error PartialFolder::exchange() {
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, folder.c_str(),
                  RENAME_EXCHANGE) == 0)
    return Error::success();
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    return systemError("replace", folder);
  if (::rename(folder.c_str(), previous.c_str()) != 0)
    return systemError("rename", folder);
  if (::rename(partial.c_str(), folder.c_str()) != 0) {
    Error error = systemError("rename", partial);
    ::rename(previous.c_str(), folder.c_str());
    return error;
  }
  return Error::success();
}

Error PartialFolder::commit() {
  if (::fsync(descriptor) != 0 && errno != EINVAL)
    return systemError("write", partial);
  if (exists(folder)) {
    if (Error error = exchange())
      return error;
  } else if (::rename(partial.c_str(), folder.c_str()) != 0) {
    return systemError("rename", partial);
  }
  flushFolder(fs::path(folder).parent_path().string());
  dissolve(partial, folder);
  dissolve(previous, folder);
  ::close(std::exchange(descriptor, -1));
  return Error::success();
}
