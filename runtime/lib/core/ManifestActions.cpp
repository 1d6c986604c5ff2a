//===- ManifestActions.cpp - Reading the actions of a manifest ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/ManifestActions.h"

#include <array>

using namespace dist;

static constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6>
    kCollectives = {{
        {"all_reduce", CollectiveKind::AllReduce},
        {"all_gather", CollectiveKind::AllGather},
        {"reduce_scatter", CollectiveKind::ReduceScatter},
        {"all_to_all", CollectiveKind::AllToAll},
        {"permute", CollectiveKind::Permute},
        {"broadcast", CollectiveKind::Broadcast},
    }};

static constexpr std::array<std::pair<std::string_view, dist_monoid>, 3>
    kMonoids = {{{"sum", DIST_SUM}, {"max", DIST_MAX}, {"min", DIST_MIN}}};

const char *dist::nameOf(CollectiveKind kind) {
  for (auto [name, each] : kCollectives)
    if (each == kind)
      return name.data();
  return "collective";
}

template <typename T, size_t N>
static T readName(const JsonValue &json,
                  const std::array<std::pair<std::string_view, T>, N> &table) {
  std::string text = json.asString(), expected;
  for (auto [name, value] : table) {
    if (name == text)
      return value;
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  }
  json.fail("is '" + text + "', expected one of " + expected);
  return table[0].second;
}

static RunAction readRun(const JsonValue &json, int64_t numSegments,
                         const Manifest &manifest) {
  RunAction run;
  run.segment = static_cast<int32_t>(json["run"].asInt(0, numSegments - 1));
  run.at = json["at"].asInts(0, manifest.arenaBytes);
  if (json.has("op"))
    run.op = json["op"].asString();
  return run;
}

/// Members of the group a permute goes between, as (from, to) pairs.
static void readPairs(const JsonValue &json, int64_t size,
                      CollectiveAction &action) {
  std::vector<bool> receives(size);
  for (const JsonValue &item : json.items()) {
    std::vector<int64_t> pair = item.asInts(0, size - 1);
    if (pair.size() != 2 || receives[pair[1]])
      return item.fail(pair.size() != 2 ? "is no pair of members"
                                        : "has a receiver that is there twice");
    receives[pair[1]] = true;
    action.pairs.push_back(static_cast<int32_t>(pair[0]));
    action.pairs.push_back(static_cast<int32_t>(pair[1]));
  }
}

/// Elements of operand and result for a count of one block.
static std::pair<int64_t, int64_t> blocksOf(CollectiveKind kind, int64_t size) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return {1, size};
  case CollectiveKind::ReduceScatter:
    return {size, 1};
  case CollectiveKind::AllToAll:
    return {size, size};
  default:
    return {1, 1};
  }
}

static void checkBuffers(const JsonValue &json, const Manifest &manifest,
                         const CollectiveAction &action, int64_t size) {
  bool inPlace = action.kind == CollectiveKind::AllReduce;
  size_t buffers = action.kind == CollectiveKind::Broadcast ? 1 : 2;
  if (inPlace ? action.at.size() != action.counts.size() || action.at.empty()
              : action.at.size() != buffers || action.counts.size() != 1)
    return json.fail("has " + std::to_string(action.at.size()) +
                     " buffers and " + std::to_string(action.counts.size()) +
                     " counts, which is not what " + nameOf(action.kind) +
                     " takes");
  auto [operand, result] = blocksOf(action.kind, size);
  for (size_t i = 0; i < action.at.size(); ++i) {
    int64_t blocks = inPlace ? 1 : i == 0 ? operand : result;
    checkRange(json, manifest, action.at[i],
               blocks * action.counts[inPlace ? i : 0], action.dtype);
  }
}

static CollectiveAction readCollective(const JsonValue &json,
                                       const Manifest &manifest) {
  CollectiveAction action;
  action.kind = readName(json["collective"], kCollectives);
  action.comm = static_cast<int32_t>(json["comm"].asInt(
      0, static_cast<int64_t>(manifest.communicators.size()) - 1));
  if (manifest.communicators.empty())
    return action;
  int64_t size = manifest.communicators[action.comm].size;
  action.dtype = readDType(json["dtype"]);
  action.at = json["at"].asInts(0, manifest.arenaBytes);
  // What a block count multiplies to must not overflow.
  action.counts = json["counts"].asInts(
      0, action.kind == CollectiveKind::AllReduce ? manifest.arenaBytes
                                                  : manifest.arenaBytes / size);
  action.op = json["op"].asString();
  bool reduces = action.kind == CollectiveKind::AllReduce ||
                 action.kind == CollectiveKind::ReduceScatter;
  if (reduces)
    action.monoid = readName(json["monoid"], kMonoids);
  if (reduces && action.dtype == DIST_I1 && action.monoid == DIST_SUM)
    json.fail("sums an i1");
  if (action.kind == CollectiveKind::Broadcast)
    action.root = static_cast<int32_t>(json["root"].asInt(0, size - 1));
  if (action.kind == CollectiveKind::Permute)
    readPairs(json["pairs"], size, action);
  checkBuffers(json, manifest, action, size);
  return action;
}

static HookAction readHook(const JsonValue &json, const Manifest &manifest) {
  HookAction hook;
  std::string kind = json["hook"].asString();
  if (kind != "grad")
    json["hook"].fail("is '" + kind + "', expected 'grad'");
  readTensorCommon(json, manifest, hook.gradient);
  std::vector<int64_t> at = json["at"].asInts(0, manifest.arenaBytes);
  if (at.size() != 1)
    json["at"].fail("has " + std::to_string(at.size()) +
                    " offsets, expected 1");
  else
    hook.gradient.offset = at[0];
  checkRange(json, manifest, hook.gradient.offset,
             hook.gradient.layout.getNumLocalElements(), hook.gradient.dtype);
  return hook;
}

static CopyAction readCopy(const JsonValue &json, const Manifest &manifest) {
  int64_t bytes = json["copy"].asInt(0, manifest.arenaBytes);
  std::vector<int64_t> at = json["at"].asInts(0, manifest.arenaBytes - bytes);
  if (at.size() != 2) {
    json["at"].fail("has " + std::to_string(at.size()) +
                    " offsets, expected 2");
    return {0, 0, 0};
  }
  if (at[0] < at[1] + bytes && at[1] < at[0] + bytes)
    json.fail("copies bytes " + std::to_string(at[0]) + " to " +
              std::to_string(at[0] + bytes) + " over themselves");
  return {bytes, at[0], at[1]};
}

std::vector<Action> dist::readActions(const JsonValue &json,
                                      int64_t numSegments,
                                      const Manifest &manifest) {
  std::vector<Action> actions;
  for (const JsonValue &item : json.items()) {
    if (item.has("run"))
      actions.emplace_back(readRun(item, numSegments, manifest));
    else if (item.has("collective"))
      actions.emplace_back(readCollective(item, manifest));
    else if (item.has("hook"))
      actions.emplace_back(readHook(item, manifest));
    else if (item.has("copy"))
      actions.emplace_back(readCopy(item, manifest));
    else
      item.fail("is neither run, collective, hook nor copy");
  }
  return actions;
}
