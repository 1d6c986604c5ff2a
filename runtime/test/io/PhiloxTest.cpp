//===- PhiloxTest.cpp - Known answers and streams of Philox ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Philox.h"

#include <gtest/gtest.h>

using namespace dist::io;

// The vectors "philox4x32 10" that Random123 publishes (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones}, {ones, ones, ones, ones}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0},
                   {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// From here on the answers come from an implementation in Python.
TEST(Philox, FoldIn) {
  EXPECT_EQ(foldIn({7, 9}, 3), (PhiloxKey{0x0d219c31, 0xbef33d84}));
}

TEST(Philox, StepKey) {
  EXPECT_EQ(stepKey(0x123456789abcdef0, 0x100000005),
            (PhiloxKey{0xea6b2fce, 0x9df10f93}));
}

TEST(Philox, ElementWord) {
  EXPECT_EQ(elementWord({7, 9}, 11), 0x136f98a9u);
  EXPECT_EQ(elementWord({7, 9}, (uint64_t(1) << 35) + 6), 0x2759b57bu);
}

TEST(Philox, DropoutThreshold) {
  EXPECT_EQ(dropoutThreshold(0), uint64_t(1) << 32);
  EXPECT_EQ(dropoutThreshold(0.5), uint64_t(1) << 31);
  EXPECT_EQ(dropoutThreshold(1), 0u);
  EXPECT_EQ(dropoutThreshold(0.1), 3865470566u);
}

TEST(Philox, DropoutKeepsTheWordsBelow) {
  uint64_t word = elementWord({7, 9}, 11);
  EXPECT_TRUE(dropoutKeeps({7, 9}, 11, word + 1));
  EXPECT_FALSE(dropoutKeeps({7, 9}, 11, word));
  int kept = 0;
  for (uint64_t i = 0; i < 100000; ++i)
    kept += dropoutKeeps({1, 2}, i, dropoutThreshold(0.25));
  EXPECT_NEAR(kept, 75000, 600);
}

// FNV's own test vectors.
TEST(Philox, ParameterKey) {
  EXPECT_EQ(parameterKey("a", 0), PhiloxKey::from(0xaf63dc4c8601ec8c));
  EXPECT_EQ(parameterKey("foobar", 0), PhiloxKey::from(0x85944171f73967e8));
  EXPECT_EQ(parameterKey("a", 5), PhiloxKey::from(0xaf63dc4c8601ec8c ^ 5));
}
