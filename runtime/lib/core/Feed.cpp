//===- Feed.cpp - Where the inputs of a step come from --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Feed.h"

#include <cstring>

using namespace dist;
using io::Error;
using io::Expected;
using io::makeError;

Expected<Feed> Feed::open(const Manifest &manifest, const TensorStore &store,
                          const FeedOptions &options) {
  Feed feed(manifest, store);
  std::optional<io::SafeTensorsFile> file;
  if (!options.inputs.empty()) {
    Expected<io::SafeTensorsFile> opened =
        io::SafeTensorsFile::open(options.inputs);
    if (!opened)
      return opened.takeError();
    file.emplace(std::move(*opened));
  }
  for (size_t i = 0; i < store.getNumTensors(); ++i)
    if (store.getInfo(i).role == Role::Input)
      if (Error error = feed.addInput(i, options, file ? &*file : nullptr))
        return error;
  if (feed.tokens || feed.targets)
    if (Error error = feed.openReader(options))
      return error;
  return feed;
}

Error Feed::addInput(size_t tensor, const FeedOptions &options,
                     const io::SafeTensorsFile *file) {
  const TensorInfo &info = store->getInfo(tensor);
  bool isTokens = info.name == "tokens", isTargets = info.name == "targets";
  bool inData = (isTokens || isTargets) && !options.data.empty();
  const io::TensorView *view = file ? file->lookup(info.name) : nullptr;
  Input &input = inputs.emplace_back();
  input.tensor = tensor;
  input.whole.resize(info.getNumElements() * sizeOf(info.dtype));
  if (inData && (options.dataFirst || !view)) {
    (isTokens ? tokens : targets) = inputs.size() - 1;
    return checkBatch(info);
  }
  if (!view)
    return makeError("input '%s' comes from nowhere: give it by %s--inputs",
                     info.name.c_str(),
                     isTokens || isTargets ? "--data or " : "");
  if (view->shape != info.shape)
    return makeError("input '%s' is %s, expected %s", info.name.c_str(),
                     io::formatShape(view->shape).c_str(),
                     io::formatShape(info.shape).c_str());
  return io::copyIn(*view, io::TensorBlock::whole(info.shape),
                    io::fromABI(info.dtype), input.whole.data());
}

/// Data fills a batch of `batch x seq` tokens.
Error Feed::checkBatch(const TensorInfo &input) const {
  std::vector<int64_t> expected = {manifest->batch, manifest->seq};
  if (input.shape != expected ||
      (input.dtype != DIST_I32 && input.dtype != DIST_I64))
    return makeError("input '%s' is %s %s: data fills %s i32 or i64 only",
                     input.name.c_str(), io::formatShape(input.shape).c_str(),
                     std::string(nameOf(input.dtype)).c_str(),
                     io::formatShape(expected).c_str());
  return Error::success();
}

Error Feed::openReader(const FeedOptions &options) {
  io::DataOptions data;
  data.paths = options.data;
  data.batch = manifest->batch;
  data.seq = manifest->seq;
  data.vocab = manifest->vocab;
  data.seed = options.seed;
  data.shuffle = options.shuffle;
  Expected<io::DataReader> opened = io::DataReader::open(data);
  if (!opened)
    return opened.takeError();
  reader.emplace(std::move(*opened));
  batch = io::TensorBlock::whole({manifest->batch, manifest->seq});
  return Error::success();
}

Error Feed::next() {
  if (!reader)
    return Error::success();
  reader->nextBatch();
  for (const std::optional<size_t> &which : {tokens, targets}) {
    if (!which)
      continue;
    Input &input = inputs[*which];
    void *to = input.whole.data();
    bool isTokens = which == tokens;
    if (Error error = reader->copyBatch(
            batch, io::fromABI(store->getInfo(input.tensor).dtype),
            isTokens ? to : nullptr, isTokens ? nullptr : to))
      return error;
  }
  return Error::success();
}

void Feed::deliver(dist_rank &rank) const {
  for (const Input &input : inputs) {
    const io::TensorBlock &block = store->getBlock(input.tensor, rank);
    char *to = store->getData(input.tensor, rank);
    int64_t bytes = sizeOf(store->getInfo(input.tensor).dtype);
    clearPadding(block, bytes, to);
    block.forEachRow([&](int64_t global, int64_t local, int64_t count) {
      std::memcpy(to + local * bytes, input.whole.data() + global * bytes,
                  count * bytes);
    });
  }
}

Error Feed::seek(int64_t position) {
  return reader ? reader->seek(position) : Error::success();
}

int64_t Feed::getNumBatches() const {
  return reader ? reader->getNumWindows() / manifest->batch : 0;
}
