//===- DataReader.cpp - Batches of tokens from files ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/DataReader.h"
#include "io/Npy.h"
#include "io/Philox.h"
#include "io/SafeTensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace dist::io;

static bool hasExtension(const std::string &path, std::string_view extension) {
  return path.ends_with(extension);
}

/// The tensor with the tokens in a safetensors file.
static Expected<TensorView> findTokens(const SafeTensorsFile &file) {
  const TensorView *tokens = file.lookup("tokens");
  if (!tokens && file.getTensors().size() == 1)
    tokens = &file.getTensors().front();
  if (!tokens)
    return makeError(
        "'%s' has %zu tensors; expected one, or one named 'tokens'",
        file.getPath().c_str(), file.getTensors().size());
  return *tokens;
}

/// Bytes and words without a header, all of the file.
static Expected<TensorView> viewRaw(const MappedFile &file, ElementType type) {
  if (file.size() % getByteSize(type) != 0)
    return makeError("'%s' has %lld bytes; expected a multiple of %lld",
                     file.getPath().c_str(),
                     static_cast<long long>(file.size()),
                     static_cast<long long>(getByteSize(type)));
  TensorView view;
  view.type = type;
  view.data = file.data();
  view.bytes = file.size();
  return view;
}

static Expected<TensorView> viewTokens(const MappedFile &file) {
  const std::string &path = file.getPath();
  if (hasExtension(path, ".npy"))
    return readNpy(file);
  if (hasExtension(path, ".bin"))
    return viewRaw(file, ElementType::U16);
  if (hasExtension(path, ".u32"))
    return viewRaw(file, ElementType::U32);
  return viewRaw(file, ElementType::U8);
}

Expected<TokenFile> TokenFile::create(MappedFile file,
                                      const TensorView &tokens) {
  if (isFloat(tokens.type))
    return makeError("'%s' holds %s; expected integers", file.getPath().c_str(),
                     getName(tokens.type));
  if (tokens.bytes == 0)
    return makeError("'%s' has no tokens", file.getPath().c_str());
  TokenFile result(std::move(file));
  result.type = tokens.type;
  result.tokens = tokens.data;
  result.count = tokens.bytes / getByteSize(tokens.type);
  return result;
}

Expected<TokenFile> TokenFile::open(const std::string &path) {
  if (hasExtension(path, ".safetensors")) {
    Expected<SafeTensorsFile> file = SafeTensorsFile::open(path);
    if (!file)
      return file.takeError();
    Expected<TensorView> tokens = findTokens(*file);
    if (!tokens)
      return tokens.takeError();
    return create(std::move(*file).takeMapping(), *tokens);
  }
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  Expected<TensorView> tokens = viewTokens(*file);
  if (!tokens)
    return tokens.takeError();
  return create(std::move(*file), *tokens);
}

/// Copies tokens of type From to type To. Returns the index of the first that
/// is not in [0, bound), or `number`.
template <typename From, typename To>
static int64_t copyTokens(const std::byte *from, int64_t number, uint64_t bound,
                          To *to) {
  for (int64_t i = 0; i < number; ++i) {
    From token;
    std::memcpy(&token, from + i * sizeof(From), sizeof(From));
    // A negative token becomes a huge one.
    if (static_cast<uint64_t>(static_cast<int64_t>(token)) >= bound)
      return i;
    to[i] = static_cast<To>(token);
  }
  return number;
}

template <typename To>
static int64_t copyTokens(ElementType type, const std::byte *from,
                          int64_t number, uint64_t bound, To *to) {
  switch (type) {
  case ElementType::I64:
    return copyTokens<int64_t>(from, number, bound, to);
  case ElementType::I32:
    return copyTokens<int32_t>(from, number, bound, to);
  case ElementType::I16:
    return copyTokens<int16_t>(from, number, bound, to);
  case ElementType::I8:
    return copyTokens<int8_t>(from, number, bound, to);
  case ElementType::U64:
    return copyTokens<uint64_t>(from, number, bound, to);
  case ElementType::U32:
    return copyTokens<uint32_t>(from, number, bound, to);
  case ElementType::U16:
    return copyTokens<uint16_t>(from, number, bound, to);
  default:
    return copyTokens<uint8_t>(from, number, bound, to);
  }
}

Error TokenFile::refuse(int64_t index, int64_t vocab) const {
  const std::byte *place = tokens + index * getByteSize(type);
  return makeError(
      "'%s': token %s at byte offset %lld (token %lld); expected 0 to %lld, "
      "the "
      "vocabulary",
      file.getPath().c_str(), formatInteger(loadInteger(type, place)).c_str(),
      static_cast<long long>(place - file.data()),
      static_cast<long long>(index), static_cast<long long>(vocab - 1));
}

Error TokenFile::read(int64_t first, int64_t number, int64_t vocab,
                      ElementType to, void *result) const {
  const std::byte *from = tokens + first * getByteSize(type);
  int64_t done = to == ElementType::I64
                     ? copyTokens(type, from, number, vocab,
                                  static_cast<int64_t *>(result))
                     : copyTokens(type, from, number, vocab,
                                  static_cast<int32_t *>(result));
  return done == number ? Error::success() : refuse(first + done, vocab);
}

/// Tokens are at most what an i32 holds.
static constexpr int64_t kMaxVocab = int64_t(1) << 31;

static Error checkOptions(const DataOptions &options) {
  if (options.paths.empty())
    return makeError("no data; expected --data FILE");
  if (options.batch < 1 || options.seq < 1)
    return makeError(
        "a batch of %lld windows of %lld tokens; expected at least "
        "1 of 1",
        static_cast<long long>(options.batch),
        static_cast<long long>(options.seq));
  if (options.vocab < 0 || options.vocab > kMaxVocab)
    return makeError("a vocabulary of %lld; expected 0 (unknown) to %lld",
                     static_cast<long long>(options.vocab),
                     static_cast<long long>(kMaxVocab));
  return Error::success();
}

Expected<DataReader> DataReader::open(const DataOptions &options) {
  if (Error error = checkOptions(options))
    return error;
  DataReader reader;
  reader.starts.push_back(0);
  for (const std::string &path : options.paths) {
    Expected<TokenFile> file = TokenFile::open(path);
    if (!file)
      return file.takeError();
    reader.starts.push_back(reader.starts.back() + file->getNumTokens());
    reader.files.push_back(std::move(*file));
  }
  reader.seq = options.seq;
  reader.vocab = options.vocab ? options.vocab : kMaxVocab;
  reader.seed = options.seed;
  reader.numWindows = (reader.getNumTokens() - 1) / options.seq;
  if (reader.numWindows < 1)
    return makeError("the data has %lld tokens ('%s'); expected at least %lld, "
                     "a window of %lld and its last target",
                     static_cast<long long>(reader.getNumTokens()),
                     options.paths.front().c_str(),
                     static_cast<long long>(options.seq) + 1,
                     static_cast<long long>(options.seq));
  if (reader.numWindows > std::numeric_limits<uint32_t>::max())
    return makeError("the data has %lld windows; expected fewer than 2^32",
                     static_cast<long long>(reader.numWindows));
  reader.windows.resize(options.batch);
  if (options.shuffle)
    reader.order.resize(reader.numWindows);
  return reader;
}

Error DataReader::seek(int64_t newPosition) {
  if (newPosition < 0)
    return makeError("data position %lld; expected a number of windows",
                     static_cast<long long>(newPosition));
  position = newPosition;
  return Error::success();
}

void DataReader::sortEpoch(int64_t epoch) {
  for (uint64_t window = 0; window < order.size(); ++window)
    order[window] =
        uint64_t(epochWord(seed, window, static_cast<uint32_t>(epoch))) << 32 |
        window;
  std::sort(order.begin(), order.end());
  sortedEpoch = epoch;
}

int64_t DataReader::chooseWindow(int64_t index) {
  int64_t epoch = index / numWindows, place = index % numWindows;
  if (order.empty())
    return place;
  if (epoch != sortedEpoch)
    sortEpoch(epoch);
  return static_cast<uint32_t>(order[place]);
}

void DataReader::nextBatch() {
  for (int64_t &window : windows)
    window = chooseWindow(position++);
}

Error DataReader::readTokens(int64_t first, int64_t number, ElementType type,
                             std::byte *to) const {
  size_t index = std::upper_bound(starts.begin(), starts.end(), first) -
                 starts.begin() - 1;
  while (number > 0) {
    int64_t count = std::min(number, starts[index + 1] - first);
    if (Error error =
            files[index].read(first - starts[index], count, vocab, type, to))
      return error;
    to += count * getByteSize(type);
    first += count;
    number -= count;
    ++index;
  }
  return Error::success();
}

Error DataReader::copyStream(const TensorBlock &block, int64_t shift,
                             ElementType type, std::byte *to) const {
  Error first = Error::success();
  block.forEachRow([&](int64_t global, int64_t local, int64_t count) {
    while (count > 0 && !first) {
      int64_t column = global % seq;
      int64_t run = std::min(count, seq - column);
      first = readTokens(windows[global / seq] * seq + column + shift, run,
                         type, to + local * getByteSize(type));
      global += run;
      local += run;
      count -= run;
    }
  });
  return first;
}

Error DataReader::copyBatch(const TensorBlock &block, ElementType type,
                            void *tokens, void *targets) const {
  int64_t elements = 1;
  for (int64_t size : block.dims)
    elements *= size;
  if (elements != static_cast<int64_t>(windows.size()) * seq ||
      (type != ElementType::I32 && type != ElementType::I64))
    return makeError("tokens are %s of %s; expected i32 or i64 of %zux%lld",
                     getName(type), formatShape(block.dims).c_str(),
                     windows.size(), static_cast<long long>(seq));
  if (tokens)
    if (Error error =
            copyStream(block, 0, type, static_cast<std::byte *>(tokens)))
      return error;
  if (targets)
    return copyStream(block, 1, type, static_cast<std::byte *>(targets));
  return Error::success();
}
