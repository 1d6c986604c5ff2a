//===- Mesh.cpp - The ranks of a run as a grid ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Mesh.h"

#include <charconv>
#include <set>

using namespace dist;
using io::Expected;
using io::makeError;

static constexpr int64_t kMaxRanks = 1 << 20;

Expected<Mesh> Mesh::create(std::vector<MeshAxis> axes) {
  Mesh mesh;
  std::set<std::string_view> names;
  for (const MeshAxis &axis : axes) {
    if (axis.size < 1 || axis.size > kMaxRanks / mesh.numRanks)
      return makeError("mesh axis '%s' has size %lld, expected 1 to %lld",
                       axis.name.c_str(), static_cast<long long>(axis.size),
                       static_cast<long long>(kMaxRanks / mesh.numRanks));
    if (!names.insert(axis.name).second)
      return makeError("mesh axis '%s' is there twice", axis.name.c_str());
    mesh.numRanks *= axis.size;
  }
  int64_t stride = mesh.numRanks;
  for (const MeshAxis &axis : axes)
    mesh.strides.push_back(stride /= axis.size);
  mesh.axes = std::move(axes);
  return mesh;
}

/// Reads `:(BEFORE)SIZE` to its end.
static bool parseSubAxis(std::string_view text, int64_t &before,
                         int64_t &size) {
  const char *at = text.data(), *end = at + text.size();
  if (!text.starts_with(":("))
    return false;
  auto first = std::from_chars(at + 2, end, before);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ')')
    return false;
  auto second = std::from_chars(first.ptr + 1, end, size);
  return second.ec == std::errc() && second.ptr == end;
}

Expected<AxisPart> Mesh::parseAxis(std::string_view text) const {
  std::string_view name = text.substr(0, text.find(':'));
  std::string_view rest = text.substr(name.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name != name)
      continue;
    int64_t n = axes[i].size;
    auto axis = static_cast<int32_t>(i);
    if (rest.empty())
      return AxisPart{axis, 1, n, 1};
    int64_t before = 0, size = 0;
    if (!parseSubAxis(rest, before, size) || before < 1 || size < 1 ||
        before > n || size > n || n % (before * size) != 0)
      return makeError("'%s' is no part of mesh axis '%s' of size %lld",
                       std::string(text).c_str(), axes[i].name.c_str(),
                       static_cast<long long>(n));
    return AxisPart{axis, before, size, n / (before * size)};
  }
  return makeError("the mesh has no axis '%s'", std::string(name).c_str());
}

Expected<std::vector<AxisPart>>
Mesh::parseAxes(std::span<const std::string> texts) const {
  std::vector<AxisPart> parts;
  for (const std::string &text : texts) {
    Expected<AxisPart> part = parseAxis(text);
    if (!part)
      return part.takeError();
    // Of two parts of one axis, one must lie within `before` of the other.
    for (const AxisPart &other : parts)
      if (other.axis == part->axis &&
          part->before % (other.before * other.size) != 0 &&
          other.before % (part->before * part->size) != 0)
        return makeError("'%s' overlaps another use of its axis", text.c_str());
    parts.push_back(*part);
  }
  return parts;
}

int64_t Mesh::getStride(const AxisPart &part) const {
  return strides[part.axis] * part.after;
}

int64_t Mesh::getCoordinate(int64_t rank, const AxisPart &part) const {
  return rank / getStride(part) % part.size;
}

int64_t Mesh::getCoordinate(int64_t rank, int32_t axis) const {
  return rank / strides[axis] % axes[axis].size;
}

int64_t Mesh::getFirstOf(int64_t rank, std::span<const AxisPart> parts) const {
  int64_t first = rank;
  for (const AxisPart &part : parts)
    first -= getCoordinate(rank, part) * getStride(part);
  return first;
}

std::vector<int32_t> Mesh::getGroup(int64_t rank,
                                    std::span<const AxisPart> parts) const {
  std::vector<int32_t> group = {static_cast<int32_t>(getFirstOf(rank, parts))};
  for (const AxisPart &part : parts) {
    std::vector<int32_t> next;
    for (int32_t member : group)
      for (int64_t i = 0; i < part.size; ++i)
        next.push_back(static_cast<int32_t>(member + i * getStride(part)));
    group = std::move(next);
  }
  return group;
}
