//===- CheckpointFolder.h - Replacing a folder of files at once -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_CHECKPOINTFOLDER_H
#define DIST_RUNTIME_IO_CHECKPOINTFOLDER_H

#include "io/Error.h"

#include <string>

namespace dist::io {

inline constexpr char kIndexName[] = "model.safetensors.index.json";

/// "model-00002-of-00005.safetensors", counting from 1.
std::string getShardName(size_t shard, size_t numShards);

/// True for the names above: all that a checkpoint writes, and so all that
/// replacing one may delete.
bool isCheckpointFile(const std::string &name);

/// Where the checkpoint of `folder` is to be read from: `folder` itself, or
/// `folder.dist-previous` if a crash came between two renames.
std::string findCheckpoint(const std::string &folder);

/// A folder `FOLDER.dist-partial`, to be filled and then put in FOLDER's place.
/// It is locked against other runs, and removed unless committed.
class PartialFolder {
public:
  /// Creates the folder, and its parents; takes over what a crash left behind.
  static Expected<PartialFolder> create(const std::string &folder);

  PartialFolder(PartialFolder &&other) noexcept;
  PartialFolder &operator=(PartialFolder &&) = delete;
  ~PartialFolder();

  const std::string &getPath() const { return partial; }

  /// Puts the folder in place, in one step where the file system can exchange
  /// two names, else in two. The files of an older checkpoint are deleted,
  /// others move into the new folder.
  Error commit();

private:
  PartialFolder() = default;

  Error prepare();
  Error exchange();

  std::string folder, partial, previous;
  int descriptor = -1;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_CHECKPOINTFOLDER_H
