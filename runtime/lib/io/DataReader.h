//===- DataReader.h - Batches of tokens from files --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_DATAREADER_H
#define DIST_RUNTIME_IO_DATAREADER_H

#include "io/MappedFile.h"
#include "io/TensorBlock.h"

#include <string>
#include <vector>

namespace dist::io {

/// A mapped file of tokens. By extension: `.bin` little-endian u16, `.u32`,
/// `.npy` and `.safetensors` integers (of several tensors the one named
/// `tokens`), anything else one token a byte.
class TokenFile {
public:
  static Expected<TokenFile> open(const std::string &path);

  int64_t getNumTokens() const { return count; }

  /// Writes tokens [first, first + number) to `to`, i32 or i64. A token that is
  /// not in [0, vocab) is an error that names file, offset and token.
  Error read(int64_t first, int64_t number, int64_t vocab, ElementType type,
             void *to) const;

private:
  explicit TokenFile(MappedFile file) : file(std::move(file)) {}

  static Expected<TokenFile> create(MappedFile file, const TensorView &tokens);
  Error refuse(int64_t index, int64_t vocab) const;

  MappedFile file;
  ElementType type = ElementType::U8;
  const std::byte *tokens = nullptr;
  int64_t count = 0;
};

/// What a reader is made of; sizes are those of the global batch.
struct DataOptions {
  std::vector<std::string> paths;
  int64_t batch = 0, seq = 0;
  int64_t vocab = 0; ///< 0: not known, any token that an i32 holds
  uint64_t seed = 0;
  bool shuffle = true; ///< false: windows in file order, for evaluation
};

/// Windows of `seq` + 1 tokens over all files in order, in an order that each
/// epoch draws anew; the same for every mesh. One thread calls `nextBatch`,
/// then any number of threads copy their blocks of it.
class DataReader {
public:
  /// An error names the file that cannot be read, or says how many tokens there
  /// are where one window needs more.
  static Expected<DataReader> open(const DataOptions &options);

  int64_t getNumWindows() const { return numWindows; }
  int64_t getNumTokens() const { return starts.back(); }

  /// Windows handed out so far: the whole state of a reader.
  int64_t getPosition() const { return position; }
  Error seek(int64_t newPosition);

  /// Chooses the windows of the next batch. Allocates nothing; sorts when an
  /// epoch begins.
  void nextBatch();

  /// Copies a block of the batch's `tokens` and `targets` (either may be null),
  /// i32 or i64. The product of `block.dims` is batch * seq.
  Error copyBatch(const TensorBlock &block, ElementType type, void *tokens,
                  void *targets) const;

private:
  DataReader() = default;

  void sortEpoch(int64_t epoch);
  int64_t chooseWindow(int64_t index);
  Error readTokens(int64_t first, int64_t number, ElementType type,
                   std::byte *to) const;
  Error copyStream(const TensorBlock &block, int64_t shift, ElementType type,
                   std::byte *to) const;

  std::vector<TokenFile> files;
  std::vector<int64_t> starts;  ///< first token of each file, then their total
  std::vector<uint64_t> order;  ///< of the epoch: sort word in the high half
  std::vector<int64_t> windows; ///< of the batch at hand
  int64_t seq = 0, vocab = 0, numWindows = 0, position = 0;
  int64_t sortedEpoch = -1;
  uint64_t seed = 0;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_DATAREADER_H
