//===- TensorLayoutTest.cpp -----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/TensorLayout.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace dist;

static Mesh makeMesh(std::vector<MeshAxis> axes) {
  io::Expected<Mesh> mesh = Mesh::create(std::move(axes));
  EXPECT_TRUE(bool(mesh));
  return std::move(*mesh);
}

static std::vector<AxisPart> parse(const Mesh &mesh,
                                   std::vector<std::string> texts) {
  io::Expected<std::vector<AxisPart>> parts = mesh.parseAxes(texts);
  EXPECT_TRUE(bool(parts));
  return parts ? *parts : std::vector<AxisPart>();
}

static std::string errorOf(const Mesh &mesh, std::vector<std::string> texts) {
  return mesh.parseAxes(texts).takeError().message();
}

TEST(Mesh, LastAxisIsFastest) {
  Mesh mesh = makeMesh({{"dp", 2}, {"tp", 3}});
  EXPECT_EQ(mesh.getNumRanks(), 6);
  EXPECT_EQ(mesh.getCoordinate(4, 0), 1);
  EXPECT_EQ(mesh.getCoordinate(4, 1), 1);
  EXPECT_EQ(mesh.getGroup(4, parse(mesh, {"tp"})),
            (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(mesh.getGroup(4, parse(mesh, {"dp"})),
            (std::vector<int32_t>{1, 4}));
  EXPECT_EQ(mesh.getGroup(4, parse(mesh, {"tp", "dp"})),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(mesh.getGroup(4, {}), (std::vector<int32_t>{4}));
}

// Of tp = 8 the part (2)2 counts the middle bit.
TEST(Mesh, SubAxis) {
  Mesh mesh = makeMesh({{"tp", 8}, {"x", 2}});
  AxisPart part = parse(mesh, {"tp:(2)2"})[0];
  for (int64_t rank = 0; rank < 16; ++rank)
    EXPECT_EQ(mesh.getCoordinate(rank, part), rank / 2 / 2 % 2);
  EXPECT_EQ(mesh.getGroup(2, parse(mesh, {"tp:(1)2", "tp:(4)2"})),
            (std::vector<int32_t>{0, 2, 8, 10}));
}

TEST(Mesh, Errors) {
  Mesh mesh = makeMesh({{"dp", 2}, {"tp", 8}});
  EXPECT_EQ(errorOf(mesh, {"pp"}), "the mesh has no axis 'pp'");
  EXPECT_EQ(errorOf(mesh, {"tp:(1)3"}),
            "'tp:(1)3' is no part of mesh axis 'tp' of size 8");
  EXPECT_NE(errorOf(mesh, {"tp:(1"}), "");
  EXPECT_NE(errorOf(mesh, {"tp:(4294967296)4294967296"}), "");
  EXPECT_EQ(errorOf(mesh, {"tp:(1)4", "tp:(2)2"}),
            "'tp:(2)2' overlaps another use of its axis");
  EXPECT_EQ(errorOf(mesh, {"tp", "tp"}),
            "'tp' overlaps another use of its axis");
  EXPECT_EQ(errorOf(mesh, {"tp:(2)2", "tp:(1)2", "tp:(4)2"}), "");
  EXPECT_NE(Mesh::create({{"a", 0}}).takeError().message(), "");
  EXPECT_NE(Mesh::create({{"a", 2}, {"a", 2}}).takeError().message(), "");
  EXPECT_NE(Mesh::create({{"a", 1 << 20}, {"b", 2}}).takeError().message(), "");
}

TEST(TensorLayout, CeilingLevelByLevel) {
  Mesh mesh = makeMesh({{"x", 2}, {"y", 2}});
  TensorLayout layout{{5}, {parse(mesh, {"x", "y"})}};
  std::vector<int64_t> sizes;
  for (int64_t rank = 0; rank < 4; ++rank)
    sizes.push_back(layout.getBlock(mesh, rank).sizes[0]);
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 1, 2, 0}));
  EXPECT_EQ(layout.getLocalDims(), (std::vector<int64_t>{2}));
}

static const Mesh &smallMesh() {
  static const Mesh mesh = makeMesh({{"x", 2}, {"y", 3}, {"z", 4}});
  return mesh;
}

/// Every tensor of rank 2 with these sizes, split in each of these ways.
template <typename Body>
static void forEachLayout(Body body) {
  const std::vector<std::vector<std::string>> ways = {
      {}, {"x"}, {"y"}, {"x", "y"}, {"y", "x"}, {"z:(1)2"}, {"z:(2)2", "x"}};
  for (int64_t rows : {0, 1, 2, 3, 5, 7})
    for (int64_t columns : {1, 4, 5, 6})
      for (const auto &first : ways)
        for (const auto &second : ways) {
          std::vector<std::string> both = first;
          both.insert(both.end(), second.begin(), second.end());
          if (smallMesh().parseAxes(both))
            body(TensorLayout{
                {rows, columns},
                {parse(smallMesh(), first), parse(smallMesh(), second)}});
        }
}

// Blocks of owners cover every element once, and a block that leaves and comes
// back is what it was, padding zero.
TEST(TensorLayout, BlocksPartitionTheTensor) {
  const Mesh &mesh = smallMesh();
  forEachLayout([&](const TensorLayout &layout) {
    int64_t count = layout.dims[0] * layout.dims[1];
    std::vector<int32_t> whole(count), covered(count), back(count, -1);
    std::iota(whole.begin(), whole.end(), 1);
    io::TensorView view{"t", io::ElementType::I32, layout.dims,
                        reinterpret_cast<const std::byte *>(whole.data()),
                        count * 4};
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
      io::TensorBlock block = layout.getBlock(mesh, rank);
      EXPECT_EQ(block.padded, layout.getLocalDims());
      std::vector<int32_t> local(layout.getNumLocalElements(), -7);
      clearPadding(block, 4, local.data());
      EXPECT_EQ(std::count(local.begin(), local.end(), -7),
                block.sizes[0] * block.sizes[1]);
      block.forEachRow([&](int64_t global, int64_t at, int64_t number) {
        for (int64_t i = 0; i < number; ++i) {
          EXPECT_EQ(local[at + i], -7);
          local[at + i] = whole[global + i];
          covered[global + i] += layout.isOwner(mesh, rank);
          back[global + i] = local[at + i];
        }
      });
    }
    EXPECT_EQ(back, whole);
    EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), count);
  });
}
