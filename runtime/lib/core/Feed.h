//===- Feed.h - Where the inputs of a step come from ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_FEED_H
#define DIST_RUNTIME_CORE_FEED_H

#include "core/TensorStore.h"
#include "io/DataReader.h"

#include <optional>

namespace dist {

/// Where the inputs may come from.
struct FeedOptions {
  std::vector<std::string> data; ///< for `tokens` and `targets`
  std::string inputs;            ///< a safetensors file, any input by name
  bool dataFirst = false;        ///< if both have an input: take `data`
  bool shuffle = true;
  uint64_t seed = 0;
};

/// Holds the batch at hand as whole tensors and deals it out.
class Feed {
public:
  /// An error names an input that comes from nowhere, or whose shape or type
  /// is not the program's.
  static io::Expected<Feed> open(const Manifest &manifest,
                                 const TensorStore &store,
                                 const FeedOptions &options);

  /// Reads the next batch. Allocates nothing.
  io::Error next();

  /// Copies this rank's blocks of the batch; ranks may do so at once.
  void deliver(dist_rank &rank) const;

  /// Windows of data used so far; 0 without data.
  int64_t getPosition() const { return reader ? reader->getPosition() : 0; }
  io::Error seek(int64_t position);

  /// Whole batches in the data.
  int64_t getNumBatches() const;

private:
  struct Input {
    size_t tensor;
    std::vector<std::byte> whole;
  };

  Feed(const Manifest &manifest, const TensorStore &store)
      : manifest(&manifest), store(&store) {}

  io::Error openReader(const FeedOptions &options);
  io::Error checkBatch(const TensorInfo &input) const;
  io::Error addInput(size_t tensor, const FeedOptions &options,
                     const io::SafeTensorsFile *file);

  const Manifest *manifest;
  const TensorStore *store;
  std::vector<Input> inputs;
  std::optional<io::DataReader> reader;
  std::optional<size_t> tokens, targets; ///< among `inputs`, if from data
  io::TensorBlock batch;                 ///< all of `tokens`
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_FEED_H
