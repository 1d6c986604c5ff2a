//===- ElementTypeTest.cpp - Rounding to and from 16 bits -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/ElementType.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace dist::io;

static uint16_t round(ElementType type, double value) {
  uint16_t bits;
  storeFloat(type, value, &bits);
  return bits;
}

static double widen(ElementType type, uint16_t bits) {
  return loadFloat(type, &bits);
}

TEST(ElementType, Names) {
  for (int i = 0; i <= static_cast<int>(ElementType::Bool); ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parseElementType(getName(type)), type);
    EXPECT_EQ(parseSafeTensorsType(getSafeTensorsName(type)), type);
  }
  EXPECT_EQ(parseElementType("f8"), std::nullopt);
  EXPECT_EQ(parseSafeTensorsType("F8_E4M3"), std::nullopt);
}

TEST(ElementType, FromABI) {
  EXPECT_EQ(fromABI(DIST_F64), ElementType::F64);
  EXPECT_EQ(fromABI(DIST_F32), ElementType::F32);
  EXPECT_EQ(fromABI(DIST_BF16), ElementType::BF16);
  EXPECT_EQ(fromABI(DIST_F16), ElementType::F16);
  EXPECT_EQ(fromABI(DIST_I64), ElementType::I64);
  EXPECT_EQ(fromABI(DIST_I32), ElementType::I32);
  EXPECT_EQ(fromABI(DIST_I1), ElementType::Bool);
}

// Every number of 16 bits survives, and the number half way to the next goes to
// the even one of the two.
TEST(ElementType, AllHalves) {
  for (auto [type, infinity] : {std::pair{ElementType::F16, 0x7c00},
                                std::pair{ElementType::BF16, 0x7f80}}) {
    for (int bits = 0; bits < infinity; ++bits) {
      double value = widen(type, bits), next = widen(type, bits + 1);
      ASSERT_EQ(round(type, value), bits);
      ASSERT_EQ(round(type, -value), bits | 0x8000);
      if (bits + 1 == infinity)
        continue;
      double middle = (value + next) / 2;
      ASSERT_LT(value, next);
      ASSERT_EQ(round(type, middle), bits + (bits & 1));
      ASSERT_EQ(round(type, std::nextafter(middle, 0)), bits);
      ASSERT_EQ(round(type, std::nextafter(middle, next)), bits + 1);
    }
    EXPECT_TRUE(std::isinf(widen(type, infinity)));
    EXPECT_TRUE(std::isnan(widen(type, infinity + 1)));
  }
}

TEST(ElementType, HalfLimits) {
  EXPECT_EQ(round(ElementType::F16, 65519.99), 0x7bff);
  EXPECT_EQ(round(ElementType::F16, 65520), 0x7c00);
  EXPECT_EQ(round(ElementType::F16, 1e300), 0x7c00);
  EXPECT_EQ(round(ElementType::BF16, 1e300), 0x7f80);
  EXPECT_EQ(round(ElementType::BF16, -1e-300), 0x8000);
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(round(ElementType::BF16, -infinity), 0xff80);
  EXPECT_TRUE(std::isnan(
      widen(ElementType::F16, round(ElementType::F16, std::nan("")))));
}

// Through f32 this becomes the tie 1 + 2^-8 and then 1.
TEST(ElementType, RoundsOnce) {
  EXPECT_EQ(round(ElementType::BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
}

TEST(ElementType, Integers) {
  int8_t negative = -5;
  uint64_t large = ~uint64_t(0);
  EXPECT_EQ(formatInteger(loadInteger(ElementType::I8, &negative)), "-5");
  EXPECT_EQ(formatInteger(loadInteger(ElementType::U8, &negative)), "251");
  EXPECT_EQ(formatInteger(loadInteger(ElementType::U64, &large)),
            "18446744073709551615");
  EXPECT_EQ(formatInteger(loadInteger(ElementType::I64, &large)), "-1");
}
