//===- DTypeTest.cpp ------------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/DType.h"

#include <gtest/gtest.h>

using namespace dist;

TEST(DType, NamesAreUnique) {
  for (auto dtype :
       {DIST_F64, DIST_F32, DIST_BF16, DIST_F16, DIST_I64, DIST_I32, DIST_I1})
    EXPECT_EQ(dtypeOf(nameOf(dtype)), dtype);
  EXPECT_FALSE(dtypeOf("f8"));
}

// Every half is a float and comes back as itself.
TEST(DType, Float16IsExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    auto value = static_cast<float>(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(value))));
    else
      EXPECT_EQ(Float16(value).bits, bits);
  }
}

// Half way between two halves the even one wins; above and below, the nearer.
TEST(DType, Float16RoundsToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    Float16 low, high;
    low.bits = static_cast<uint16_t>(bits);
    high.bits = static_cast<uint16_t>(bits + 1);
    float middle = (static_cast<float>(low) + static_cast<float>(high)) / 2;
    EXPECT_EQ(Float16(middle).bits, bits + (bits & 1));
    EXPECT_EQ(Float16(std::nextafterf(middle, 1e9f)).bits, bits + 1);
    EXPECT_EQ(Float16(std::nextafterf(middle, -1e9f)).bits, bits);
  }
  EXPECT_EQ(Float16(65519.99f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
}

TEST(DType, BFloat16RoundsToEven) {
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(BFloat16(INFINITY).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(NAN))));
}
