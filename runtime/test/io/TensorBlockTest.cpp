//===- TensorBlockTest.cpp - Blocks in and out of global tensors ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/TensorBlock.h"
#include "Expect.h"

#include <numeric>

using namespace dist::io;

template <typename T>
static TensorView view(const std::vector<T> &values, ElementType type,
                       std::vector<int64_t> shape) {
  TensorView result;
  result.name = "x";
  result.type = type;
  result.shape = std::move(shape);
  result.data = reinterpret_cast<const std::byte *>(values.data());
  result.bytes = values.size() * sizeof(T);
  return result;
}

static std::vector<int32_t> count(size_t number) {
  std::vector<int32_t> values(number);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// Rows 1..2 and columns 2..4 of 4x5, into a padded 3x4.
TEST(TensorBlock, CopiesABlockAndLeavesPadding) {
  std::vector<int32_t> global = count(20), local(12, -1);
  TensorBlock block{{4, 5}, {1, 2}, {2, 3}, {3, 4}};
  ASSERT_SUCCESS(copyIn(view(global, ElementType::I32, {4, 5}), block,
                        ElementType::I32, local.data()));
  EXPECT_EQ(local, (std::vector<int32_t>{7, 8, 9, -1, 12, 13, 14, -1, -1, -1,
                                         -1, -1}));
  std::vector<int32_t> back(20, -1);
  copyOut(local.data(), block, ElementType::I32, back.data());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(back[i], i / 5 >= 1 && i / 5 <= 2 && i % 5 >= 2 ? i : -1);
}

TEST(TensorBlock, ThreeDimensions) {
  std::vector<int32_t> global = count(2 * 3 * 4), local(4, -1);
  TensorBlock block{{2, 3, 4}, {0, 2, 1}, {2, 1, 2}, {2, 1, 2}};
  ASSERT_SUCCESS(copyIn(view(global, ElementType::I32, {6, 4}), block,
                        ElementType::I32, local.data()));
  EXPECT_EQ(local, (std::vector<int32_t>{9, 10, 21, 22}));
}

TEST(TensorBlock, ScalarsAndEmptyBlocks) {
  std::vector<int32_t> global = {7}, local = {-1};
  ASSERT_SUCCESS(copyIn(view(global, ElementType::I32, {}),
                        TensorBlock::whole({}), ElementType::I32,
                        local.data()));
  EXPECT_EQ(local[0], 7);
  TensorBlock empty{{1, 1}, {1, 0}, {0, 1}, {1, 1}};
  local[0] = -1;
  ASSERT_SUCCESS(copyIn(view(global, ElementType::I32, {1, 1}), empty,
                        ElementType::I32, local.data()));
  EXPECT_EQ(local[0], -1);
}

TEST(TensorBlock, ConvertsIntegers) {
  std::vector<int64_t> wide = {-1, 0, 2147483647};
  std::vector<int32_t> narrow(3);
  ASSERT_SUCCESS(copyIn(view(wide, ElementType::I64, {3}),
                        TensorBlock::whole({3}), ElementType::I32,
                        narrow.data()));
  EXPECT_EQ(narrow, (std::vector<int32_t>{-1, 0, 2147483647}));
  std::vector<uint16_t> words = {65535};
  ASSERT_SUCCESS(copyIn(view(words, ElementType::U16, {1}),
                        TensorBlock::whole({1}), ElementType::I64,
                        wide.data()));
  EXPECT_EQ(wide[0], 65535);
}

TEST(TensorBlock, RefusesIntegersOutOfRange) {
  std::vector<int64_t> wide = {0, int64_t(1) << 31};
  std::vector<int32_t> narrow(2);
  EXPECT_EQ(messageOf(copyIn(view(wide, ElementType::I64, {2}),
                             TensorBlock::whole({2}), ElementType::I32,
                             narrow.data())),
            "'x' holds 2147483648 at element 1, which does not fit in i32");
  std::vector<uint64_t> huge = {~uint64_t(0)};
  EXPECT_MESSAGE(copyIn(view(huge, ElementType::U64, {1}),
                        TensorBlock::whole({1}), ElementType::I64, wide.data()),
                 "holds 18446744073709551615");
  std::vector<uint8_t> truth = {1, 0, 2}, bits(3);
  EXPECT_MESSAGE(copyIn(view(truth, ElementType::Bool, {3}),
                        TensorBlock::whole({3}), ElementType::Bool,
                        bits.data()),
                 "holds 2 at element 2, which does not fit in i1");
}

TEST(TensorBlock, ConvertsFloats) {
  std::vector<double> wide = {1.1, -3};
  std::vector<float> narrow(2);
  ASSERT_SUCCESS(copyIn(view(wide, ElementType::F64, {2}),
                        TensorBlock::whole({2}), ElementType::F32,
                        narrow.data()));
  EXPECT_EQ(narrow, (std::vector<float>{1.1f, -3}));
  std::vector<uint16_t> half = {0x3f80};
  ASSERT_SUCCESS(copyIn(view(half, ElementType::BF16, {1}),
                        TensorBlock::whole({1}), ElementType::F64,
                        wide.data()));
  EXPECT_EQ(wide[0], 1);
}

TEST(TensorBlock, RefusesOtherKindsAndSizes) {
  std::vector<float> values = {1, 2};
  EXPECT_EQ(messageOf(copyIn(view(values, ElementType::F32, {2}),
                             TensorBlock::whole({2}), ElementType::I32,
                             values.data())),
            "'x' is f32; expected i32");
  EXPECT_EQ(messageOf(copyIn(view(values, ElementType::F32, {2}),
                             TensorBlock::whole({3, 1}), ElementType::F32,
                             values.data())),
            "'x' is 2; expected 3x1");
}
