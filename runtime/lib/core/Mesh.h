//===- Mesh.h - The ranks of a run as a grid --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_MESH_H
#define DIST_RUNTIME_CORE_MESH_H

#include "io/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dist {

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// An axis or a sub-axis: of an axis of size n = before * size * after, the
/// coordinate that counts `size` steps of length `after`. A whole axis has
/// before = after = 1.
struct AxisPart {
  int32_t axis;
  int64_t before, size, after;
};

/// Rank r has the row-major coordinates of r: the last axis is the fastest.
class Mesh {
public:
  Mesh() = default;

  /// Sizes are at least 1, names unique, ranks at most 2^20.
  static io::Expected<Mesh> create(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis> &getAxes() const { return axes; }
  int64_t getNumRanks() const { return numRanks; }

  /// Reads `tp` or `tp:(1)2`.
  io::Expected<AxisPart> parseAxis(std::string_view text) const;

  /// Reads several; they must not share ranks' digits.
  io::Expected<std::vector<AxisPart>>
  parseAxes(std::span<const std::string> texts) const;

  /// Of rank `rank`, the coordinate along `part`.
  int64_t getCoordinate(int64_t rank, const AxisPart &part) const;
  int64_t getCoordinate(int64_t rank, int32_t axis) const;

  /// The rank with coordinate 0 along `parts` that is otherwise `rank`.
  int64_t getFirstOf(int64_t rank, std::span<const AxisPart> parts) const;

  /// The ranks that differ from `rank` only along `parts`, itself included,
  /// ordered by these coordinates, the first part slowest.
  std::vector<int32_t> getGroup(int64_t rank,
                                std::span<const AxisPart> parts) const;

private:
  /// How far apart in rank neighbours along `part` are.
  int64_t getStride(const AxisPart &part) const;

  std::vector<MeshAxis> axes;
  std::vector<int64_t> strides;
  int64_t numRanks = 1;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_MESH_H
