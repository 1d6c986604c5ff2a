//===- LrScheduleTest.cpp - Schedules, against Megatron's formulas --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/LrSchedule.h"
#include "Expect.h"

#include <cmath>

using namespace dist::io;

static LrSchedule schedule(std::string_view decay) {
  Expected<LrSchedule> result = LrSchedule::create(3e-3, 3e-4, 20, decay, 200);
  EXPECT_TRUE(result);
  return *result;
}

static void expectRates(const LrSchedule &schedule,
                        const std::vector<std::pair<int64_t, double>> &rates) {
  for (auto [step, rate] : rates)
    EXPECT_DOUBLE_EQ(schedule.at(step), rate) << "step " << step;
}

// The values come from OptimizerParamScheduler.get_lr, at num_steps = step.
TEST(LrSchedule, Cosine) {
  expectRates(schedule("cosine"), {{1, 1.5e-4},
                                   {20, 3e-3},
                                   {21, 0.0029997943884611284},
                                   {110, 1.65e-3},
                                   {190, 0.00032050953343351916},
                                   {200, 3e-4},
                                   {201, 3e-4}});
}

TEST(LrSchedule, Linear) {
  expectRates(schedule("linear"), {{1, 1.5e-4},
                                   {21, 0.002985},
                                   {110, 1.65e-3},
                                   {190, 4.5e-4},
                                   {200, 3e-4}});
}

TEST(LrSchedule, Wsd) {
  expectRates(schedule("wsd"), {{1, 1.5e-4},
                                {21, 3e-3},
                                {180, 3e-3},
                                {190, 0.0014183766184073568},
                                {200, 3e-4},
                                {1000, 3e-4}});
}

TEST(LrSchedule, NoDecay) {
  expectRates(schedule(""), {{1, 1.5e-4}, {20, 3e-3}, {1000, 3e-3}});
}

TEST(LrSchedule, Edges) {
  // Without warm-up the first step is already on the curve.
  expectRates(*LrSchedule::create(1, 0, 0, "linear", 4),
              {{1, 0.75}, {4, 0}, {5, 0}});
  expectRates(*LrSchedule::create(1, 0, 0, "", 4), {{1, 1}});
  // Nothing is left to decay.
  expectRates(*LrSchedule::create(1, 0, 4, "cosine", 4), {{4, 1}, {5, 0}});
  expectRates(*LrSchedule::create(1, 0, 8, "cosine", 4), {{4, 0.5}});
  // The anneal is no longer than what the warm-up leaves.
  expectRates(*LrSchedule::create(1, 0, 99, "wsd", 100), {{99, 1}, {100, 0}});
  expectRates(*LrSchedule::create(1, 0, 0, "wsd", 1), {{1, 0}});
}

TEST(LrSchedule, RefusesBadOptions) {
  EXPECT_MESSAGE(LrSchedule::create(1, 0, 0, "step", 1),
                 "--decay is 'step'; expected cosine, linear or wsd");
  EXPECT_MESSAGE(LrSchedule::create(-1, 0, 0, "", 1), "--lr is -1");
  EXPECT_MESSAGE(LrSchedule::create(NAN, 0, 0, "", 1), "--lr is nan");
  EXPECT_MESSAGE(LrSchedule::create(INFINITY, 0, 0, "", 1), "--lr is inf");
  EXPECT_MESSAGE(LrSchedule::create(1, 2, 0, "", 1), "--min-lr is 2");
  EXPECT_MESSAGE(LrSchedule::create(1, NAN, 0, "", 1), "--min-lr is nan");
  EXPECT_MESSAGE(LrSchedule::create(1, 0, -1, "", 1), "--warmup is -1");
  EXPECT_MESSAGE(LrSchedule::create(1, 0, 0, "", -1), "--steps is -1");
}
