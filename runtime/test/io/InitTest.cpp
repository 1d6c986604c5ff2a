//===- InitTest.cpp - Initial values, against Python's --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Init.h"
#include "Expect.h"

using namespace dist::io;

static Init parse(std::string_view text) {
  Expected<Init> init = Init::parse(text);
  EXPECT_TRUE(init) << text;
  return *init;
}

// The values come from an implementation in Python.
TEST(Init, Normal) {
  Init init = parse("normal 0.02");
  EXPECT_DOUBLE_EQ(init.getValue("wte.weight", 42, 0), -0x1.d0bf6999ca2b6p-8);
  EXPECT_DOUBLE_EQ(init.getValue("wte.weight", 42, 1), 0x1.1ee538cce907fp-6);
  EXPECT_DOUBLE_EQ(init.getValue("wte.weight", 42, 12345),
                   -0x1.a196c706afcf7p-7);
  EXPECT_DOUBLE_EQ(init.getValue("wte.weight", 42, (uint64_t(1) << 33) + 1),
                   -0x1.46510ae0f192dp-9);
}

TEST(Init, Uniform) {
  Init init = parse("uniform -0.5 1.5");
  EXPECT_EQ(init.getValue("wte.weight", 42, 0), 0x1.6cceeb18ae468p-1);
  EXPECT_EQ(init.getValue("wte.weight", 42, 1), -0x1.91bc930dbc908p-4);
  EXPECT_EQ(init.getValue("wte.weight", 42, 12345), 0x1.856c2cd94505cp-1);
}

TEST(Init, Constants) {
  EXPECT_EQ(parse("zeros").getValue("a", 1, 5), 0);
  EXPECT_EQ(parse("ones").getValue("a", 1, 5), 1);
  EXPECT_EQ(parse("normal 0").getValue("a", 1, 5), 0);
}

TEST(Init, Moments) {
  Init init = parse("normal 2");
  double sum = 0, squares = 0;
  int number = 100000;
  for (int i = 0; i < number; ++i) {
    double value = init.getValue("w", 0, i);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / number, 0, 0.02);
  EXPECT_NEAR(squares / number, 4, 0.06);
}

TEST(Init, RefusesOtherTexts) {
  for (const char *text :
       {"", "zero", "zeros 1", "ones x", "normal", "normal x", "normal -1",
        "normal 1 2", "normal inf", "normal nan", "normal 1x", "uniform 1",
        "uniform 2 1", "uniform 0 1 2", "uniform 0 inf", "Normal 1"})
    EXPECT_MESSAGE(Init::parse(text), "expected 'zeros', 'ones'") << text;
}

// Any block of any split holds the values of the whole tensor.
TEST(Init, BlocksAgreeWithTheWhole) {
  Init init = parse("normal 1");
  std::vector<float> whole(5 * 7), local(3 * 4, -9);
  init.fill("w", 3, TensorBlock::whole({5, 7}), ElementType::F32,
            ElementType::F32, whole.data());
  TensorBlock block{{5, 7}, {3, 4}, {2, 3}, {3, 4}};
  init.fill("w", 3, block, ElementType::F32, ElementType::F32, local.data());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(local[i * 4 + j],
                i < 2 && j < 3 ? whole[(i + 3) * 7 + j + 4] : -9);
}

TEST(Init, RoundsToTheWrittenType) {
  Init init = parse("normal 1");
  double asDouble = 0, throughFloat = 0;
  uint16_t half = 0;
  TensorBlock one = TensorBlock::whole({1});
  init.fill("w", 3, one, ElementType::F64, ElementType::F64, &asDouble);
  init.fill("w", 3, one, ElementType::F32, ElementType::F64, &throughFloat);
  init.fill("w", 3, one, ElementType::BF16, ElementType::BF16, &half);
  EXPECT_EQ(asDouble, init.getValue("w", 3, 0));
  EXPECT_EQ(throughFloat, static_cast<double>(static_cast<float>(asDouble)));
  EXPECT_NE(throughFloat, asDouble);
  EXPECT_NEAR(loadFloat(ElementType::BF16, &half), asDouble,
              std::abs(asDouble) / 256);
}
