//===- Checkpoint.h - Folders of parameters and state -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is a folder of safetensors shards with the index that Hugging
// Face writes: parameters as NAME, optimizer state as m:NAME and v:NAME, all at
// their logical shape, so that any plan loads any other plan's.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_CHECKPOINT_H
#define DIST_RUNTIME_IO_CHECKPOINT_H

#include "io/SafeTensors.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dist::io {

/// What a run needs besides tensors to go on as if it had not stopped.
struct TrainState {
  int64_t step = 0;         ///< the last step done
  uint64_t seed = 0;        ///< of dropout and of the order of data
  int64_t dataPosition = 0; ///< DataReader::getPosition
};

/// Writes all of tensor `index` at `to`, row-major in its logical shape.
using TensorSource = std::function<Error(size_t index, void *to)>;

struct SaveOptions {
  /// A shard is closed before the tensor that would take it over this.
  int64_t shardBytes = 5'000'000'000;
};

/// Writes checkpoint `folder`: into `folder.dist-partial` beside it, flushed,
/// then renamed. On any failure `folder` is what it was and the partial one is
/// gone. Files in `folder` that are not a checkpoint's stay.
Error saveCheckpoint(const std::string &folder, const TrainState &state,
                     const std::vector<TensorSpec> &tensors,
                     const TensorSource &source,
                     const SaveOptions &options = {});

/// An error if `saveCheckpoint` could not even begin, for use before training.
Error checkSaveFolder(const std::string &folder);

/// A checkpoint opened for reading: its shards are mapped.
class Checkpoint {
public:
  /// `path` is a folder with an index, one with a `model.safetensors`, or a
  /// safetensors file.
  static Expected<Checkpoint> open(const std::string &path);

  /// The tensor of that name, or null.
  const TensorView *lookup(std::string_view name) const;

  /// An error if the folder does not say step, seed and data position.
  Expected<TrainState> getState() const;

  /// Checks names, shapes and types before anything is loaded: `expected` is
  /// all there is. With `paramsOnly` (`--load-params`), `m:` and `v:` of the
  /// checkpoint do not count. Float types may differ; they are converted.
  Error check(const std::vector<TensorSpec> &expected, bool paramsOnly) const;

private:
  Checkpoint() = default;

  Error openFolder();
  Error openShards(const std::map<std::string, std::string> &shardOf);
  Error addFile(const std::string &file);
  Error checkNames(const std::vector<TensorSpec> &expected,
                   bool paramsOnly) const;

  std::string path;
  std::vector<SafeTensorsFile> shards;
  std::map<std::string, std::pair<size_t, size_t>, std::less<>> byName;
  Metadata metadata;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_CHECKPOINT_H
