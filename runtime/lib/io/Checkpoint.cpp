//===- Checkpoint.cpp - Folders of parameters and state -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Checkpoint.h"
#include "io/CheckpointFolder.h"
#include "io/SafeTensorsHeader.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>

using namespace dist::io;

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// Cuts tensors, in their order, into runs of at most `shardBytes` (a larger
/// one alone). There is at least one, so that a checkpoint of nothing is one.
static std::vector<std::vector<size_t>>
cutShards(const std::vector<TensorSpec> &tensors, int64_t shardBytes) {
  std::vector<std::vector<size_t>> shards(1);
  int64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    int64_t size = tensors[i].getByteSize();
    if (!shards.back().empty() && bytes + size > shardBytes) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(i);
    bytes += size;
  }
  return shards;
}

static Metadata formatState(const TrainState &state) {
  return {{"step", std::to_string(state.step)},
          {"seed", std::to_string(state.seed)},
          {"data_position", std::to_string(state.dataPosition)},
          {"format", "pt"}}; // Hugging Face's loaders insist on one
}

static Error writeShard(const std::string &path, const Metadata &metadata,
                        const std::vector<TensorSpec> &tensors,
                        const std::vector<size_t> &shard,
                        const TensorSource &source,
                        std::vector<std::byte> &buffer) {
  std::vector<TensorSpec> members;
  for (size_t index : shard)
    members.push_back(tensors[index]);
  Expected<SafeTensorsWriter> writer =
      SafeTensorsWriter::create(path, members, metadata);
  if (!writer)
    return writer.takeError();
  for (size_t index : shard) {
    if (Error error = source(index, buffer.data()))
      return error;
    if (Error error =
            writer->append(buffer.data(), tensors[index].getByteSize()))
      return error;
  }
  return writer->finish();
}

static std::string formatIndex(const TrainState &state,
                               const std::vector<TensorSpec> &tensors,
                               const std::vector<std::vector<size_t>> &shards) {
  int64_t bytes = 0;
  std::map<std::string, std::string> shardOf;
  for (size_t i = 0; i < shards.size(); ++i)
    for (size_t index : shards[i]) {
      bytes += tensors[index].getByteSize();
      shardOf[tensors[index].name] = getShardName(i + 1, shards.size());
    }
  std::string text =
      "{\n  \"metadata\": {\"total_size\": " + std::to_string(bytes) +
      ", \"step\": " + std::to_string(state.step) +
      ", \"seed\": " + std::to_string(state.seed) +
      ", \"data_position\": " + std::to_string(state.dataPosition) +
      "},\n  \"weight_map\": {";
  const char *separator = "\n";
  for (auto &[name, shard] : shardOf) {
    text += separator + ("    " + quoteJson(name)) + ": " + quoteJson(shard);
    separator = ",\n";
  }
  return text + "\n  }\n}\n";
}

static Error writeFile(const std::string &path, const std::string &text) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = file->append(text.data(), text.size()))
    return error;
  return file->finish();
}

/// Names are checked shard by shard when written; here across shards.
static Error checkNames(const std::vector<TensorSpec> &tensors) {
  std::set<std::string_view> names;
  for (const TensorSpec &tensor : tensors)
    if (!names.insert(tensor.name).second)
      return makeError("two tensors of a checkpoint are named '%s'",
                       tensor.name.c_str());
  return Error::success();
}

Error dist::io::saveCheckpoint(const std::string &folder,
                               const TrainState &state,
                               const std::vector<TensorSpec> &tensors,
                               const TensorSource &source,
                               const SaveOptions &options) {
  if (Error error = checkNames(tensors))
    return error;
  Expected<PartialFolder> partial = PartialFolder::create(folder);
  if (!partial)
    return partial.takeError();
  int64_t largest = 0;
  for (const TensorSpec &tensor : tensors)
    largest = std::max(largest, tensor.getByteSize());
  std::vector<std::byte> buffer(largest);
  std::vector<std::vector<size_t>> shards =
      cutShards(tensors, options.shardBytes);
  Metadata metadata = formatState(state);
  for (size_t i = 0; i < shards.size(); ++i) {
    std::string path =
        partial->getPath() + "/" + getShardName(i + 1, shards.size());
    if (Error error =
            writeShard(path, metadata, tensors, shards[i], source, buffer))
      return error;
  }
  if (Error error = writeFile(partial->getPath() + "/" + kIndexName,
                              formatIndex(state, tensors, shards)))
    return error;
  return partial->commit();
}

Error dist::io::checkSaveFolder(const std::string &folder) {
  return PartialFolder::create(folder).takeError();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Names of shards are names in the folder, never a way out of it.
static bool isPlainName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

/// The `weight_map` of an index: name of a tensor to name of its shard.
static Expected<std::map<std::string, std::string>>
readIndex(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const char *text = reinterpret_cast<const char *>(file->data());
  nlohmann::json index =
      nlohmann::json::parse(text, text + file->size(), nullptr, false);
  auto wrong = [&](const char *what) {
    return makeError("'%s': %s", path.c_str(), what);
  };
  if (index.is_discarded())
    return wrong("not JSON");
  if (!index.is_object() || !index.contains("weight_map") ||
      !index["weight_map"].is_object())
    return wrong("expected an object with a 'weight_map'");
  std::map<std::string, std::string> shardOf;
  for (auto &[name, shard] : index["weight_map"].items()) {
    if (!shard.is_string() ||
        !isPlainName(shard.get_ref<const std::string &>()))
      return wrong("expected every value in 'weight_map' to be the name of a "
                   "file in the same folder");
    shardOf[name] = shard.get<std::string>();
  }
  return shardOf;
}

static bool isFolder(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

static bool exists(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0;
}

Error Checkpoint::addFile(const std::string &file) {
  Expected<SafeTensorsFile> shard = SafeTensorsFile::open(file);
  if (!shard)
    return shard.takeError();
  for (const TensorView &tensor : shard->getTensors()) {
    size_t index = &tensor - shard->getTensors().data();
    if (!byName.try_emplace(tensor.name, shards.size(), index).second)
      return makeError("'%s': tensor '%s' is in another file as well",
                       file.c_str(), tensor.name.c_str());
  }
  for (const char *key : {"step", "seed", "data_position"}) {
    auto found = shard->getMetadata().find(key);
    if (found == shard->getMetadata().end())
      continue;
    auto [known, isNew] = metadata.try_emplace(key, found->second);
    if (!isNew && known->second != found->second)
      return makeError("'%s' is of %s %s, other files of %s", file.c_str(), key,
                       found->second.c_str(), known->second.c_str());
  }
  shards.push_back(std::move(*shard));
  return Error::success();
}

Error Checkpoint::openShards(
    const std::map<std::string, std::string> &shardOf) {
  std::set<std::string> files;
  for (auto &[name, file] : shardOf)
    files.insert(file);
  if (files.empty() && exists(path + "/" + getShardName(1, 1)))
    files.insert(getShardName(1, 1)); // of a checkpoint without tensors
  for (const std::string &file : files)
    if (Error error = addFile(path + "/" + file))
      return error;
  for (auto &[name, file] : shardOf) {
    auto found = byName.find(name);
    if (found == byName.end() ||
        shards[found->second.first].getPath() != path + "/" + file)
      return makeError("'%s/%s' has no tensor '%s', which '%s' says it has",
                       path.c_str(), file.c_str(), name.c_str(), kIndexName);
  }
  if (byName.size() == shardOf.size())
    return Error::success();
  for (auto &[name, place] : byName)
    if (!shardOf.count(name))
      return makeError("'%s' has a tensor '%s', which '%s' does not list",
                       shards[place.first].getPath().c_str(), name.c_str(),
                       kIndexName);
  return Error::success();
}

Error Checkpoint::openFolder() {
  if (!isFolder(path))
    return addFile(path);
  std::string index = path + "/" + kIndexName;
  std::string single = path + "/model.safetensors";
  if (exists(index)) {
    Expected<std::map<std::string, std::string>> shardOf = readIndex(index);
    return shardOf ? openShards(*shardOf) : shardOf.takeError();
  }
  if (exists(single))
    return addFile(single);
  return makeError("'%s' is not a checkpoint; expected '%s' or "
                   "'model.safetensors' in it",
                   path.c_str(), kIndexName);
}

Expected<Checkpoint> Checkpoint::open(const std::string &path) {
  Checkpoint checkpoint;
  checkpoint.path = findCheckpoint(path);
  if (Error error = checkpoint.openFolder())
    return error;
  return checkpoint;
}

const TensorView *Checkpoint::lookup(std::string_view name) const {
  auto found = byName.find(name);
  if (found == byName.end())
    return nullptr;
  auto [shard, index] = found->second;
  return &shards[shard].getTensors()[index];
}

template <typename T>
static bool parseNumber(const Metadata &metadata, const char *key, T &value) {
  auto found = metadata.find(key);
  if (found == metadata.end())
    return false;
  const std::string &text = found->second;
  auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() &&
         value >= 0;
}

Expected<TrainState> Checkpoint::getState() const {
  TrainState state;
  if (!parseNumber(metadata, "step", state.step) ||
      !parseNumber(metadata, "seed", state.seed) ||
      !parseNumber(metadata, "data_position", state.dataPosition))
    return makeError("'%s' does not say its step, seed and data position; "
                     "--load-params reads parameters alone",
                     path.c_str());
  return state;
}

/// "a, b, c", at most eight of them.
static std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > kMost)
    text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

static bool isState(const std::string &name) {
  return name.starts_with("m:") || name.starts_with("v:");
}

Error Checkpoint::checkNames(const std::vector<TensorSpec> &expected,
                             bool paramsOnly) const {
  std::set<std::string_view> wanted;
  std::vector<std::string> missing, surplus;
  for (const TensorSpec &tensor : expected) {
    wanted.insert(tensor.name);
    if (!lookup(tensor.name))
      missing.push_back(tensor.name);
  }
  for (auto &[name, place] : byName)
    if (!wanted.count(name) && !(paramsOnly && isState(name)))
      surplus.push_back(name);
  std::string text = "'" + path + "'";
  if (!missing.empty())
    text += " lacks " + listNames(missing) + " of this program";
  if (!surplus.empty())
    text += (missing.empty() ? " has " : " and has ") + listNames(surplus) +
            ", which this program does not know";
  if (missing.empty() && surplus.empty())
    return Error::success();
  return Error::failure(text);
}

Error Checkpoint::check(const std::vector<TensorSpec> &expected,
                        bool paramsOnly) const {
  if (Error error = checkNames(expected, paramsOnly))
    return error;
  for (const TensorSpec &tensor : expected) {
    const TensorView &found = *lookup(tensor.name);
    if (found.shape != tensor.shape ||
        (found.type != tensor.type &&
         !(isFloat(found.type) && isFloat(tensor.type))))
      return makeError("'%s' in '%s' is %s of %s; expected %s of %s",
                       tensor.name.c_str(), path.c_str(),
                       formatShape(found.shape).c_str(), getName(found.type),
                       formatShape(tensor.shape).c_str(), getName(tensor.type));
  }
  return Error::success();
}
