//===- LogTest.cpp - The JSON log and the progress line -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Log.h"
#include "Allocations.h"
#include "Expect.h"
#include "TempFolder.h"

#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dist::io;
using nlohmann::json;

static StepRecord makeRecord() {
  StepRecord record;
  record.step = 3;
  record.loss = 2.5;
  record.gradNorm = 0.1;
  record.lr = 3e-4;
  record.tokensPerSecond = 12345.6;
  record.stepMs = 20;
  record.mfu = 0.25;
  record.commShare = 0.125;
  record.peakBytes = 1 << 20;
  return record;
}

TEST(Log, OneObjectALine) {
  TempFolder folder;
  Expected<Log> log = Log::open(folder / "log", {"acc", "a\"b"}, false);
  ASSERT_TRUE(log);
  StepRecord record = makeRecord();
  std::vector<double> metrics = {0.5, -1};
  record.metrics = metrics;
  ASSERT_SUCCESS(log->write(record));
  record.mfu.reset();
  record.evalLoss = 2.25;
  record.step = 4;
  ASSERT_SUCCESS(log->write(record));
  std::istringstream lines(TempFolder::read(folder / "log"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line),
            json::parse(R"({"step": 3, "loss": 2.5, "grad_norm": 0.1,
              "lr": 3e-4, "tokens_per_s": 12345.6, "step_ms": 20.0,
              "mfu": 0.25, "comm_share": 0.125, "bubble_share": 0.0,
              "peak_bytes": 1048576, "nonfinite": 0, "acc": 0.5,
              "a\"b": -1.0})"));
  std::getline(lines, line);
  json second = json::parse(line);
  EXPECT_EQ(second["step"], 4);
  EXPECT_TRUE(second["mfu"].is_null());
  EXPECT_EQ(second["eval_loss"], 2.25);
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Log, ExactNumbers) {
  TempFolder folder;
  Expected<Log> log = Log::open(folder / "log", {}, false);
  ASSERT_TRUE(log);
  StepRecord record = makeRecord();
  record.step = std::numeric_limits<int64_t>::min();
  record.peakBytes = std::numeric_limits<int64_t>::max();
  record.loss = -std::numeric_limits<double>::denorm_min();
  record.gradNorm = -1.2345678901234567e-300;
  record.lr = 0.1f;
  ASSERT_SUCCESS(log->write(record));
  json line = json::parse(TempFolder::read(folder / "log"));
  EXPECT_EQ(line["step"], record.step);
  EXPECT_EQ(line["peak_bytes"], record.peakBytes);
  EXPECT_EQ(line["loss"], record.loss);
  EXPECT_EQ(line["grad_norm"], record.gradNorm);
  EXPECT_EQ(line["lr"], record.lr);
}

TEST(Log, NonFiniteIsNull) {
  TempFolder folder;
  Expected<Log> log = Log::open(folder / "log", {}, false);
  ASSERT_TRUE(log);
  StepRecord record = makeRecord();
  record.loss = NAN;
  record.gradNorm = INFINITY;
  record.nonfinite = 2;
  ASSERT_SUCCESS(log->write(record));
  json line = json::parse(TempFolder::read(folder / "log"));
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["grad_norm"].is_null());
  EXPECT_EQ(line["nonfinite"], 2);
}

TEST(Log, AppendsOrTruncates) {
  TempFolder folder;
  for (bool append : {false, true, true, false}) {
    Expected<Log> log = Log::open(folder / "log", {}, append);
    ASSERT_TRUE(log);
    ASSERT_SUCCESS(log->write(makeRecord()));
    std::string text = TempFolder::read(folder / "log");
    static int lines = 0;
    lines = append ? lines + 1 : 1;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), lines);
  }
}

TEST(Log, Errors) {
  TempFolder folder;
  EXPECT_MESSAGE(Log::open(folder / "no/log", {}, false), "cannot write log");
  Expected<Log> log = Log::open("/dev/full", {}, true);
  ASSERT_TRUE(log);
  EXPECT_MESSAGE(log->write(makeRecord()),
                 "cannot write log '/dev/full': No space left on device");
}

// A limit in the middle of the second line: the first stays, alone and whole.
TEST(Log, AFullDiskLeavesWholeLines) {
  TempFolder folder;
  pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = {300, 300};
    ::setrlimit(RLIMIT_FSIZE, &small);
    Expected<Log> log = Log::open(folder / "log", {}, false);
    bool isFull = log && !log->write(makeRecord()) &&
                  log->write(makeRecord()).message().find("File too large") !=
                      std::string::npos;
    ::_exit(isFull ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::string text = TempFolder::read(folder / "log");
  EXPECT_TRUE(text.ends_with("}\n"));
  EXPECT_EQ(json::parse(text)["step"], 3);
}

/// What a progress line writes into a file.
static std::string show(bool terminal, const std::vector<StepRecord> &records,
                        int64_t steps) {
  TempFolder folder;
  int file = ::open((folder / "x").c_str(), O_WRONLY | O_CREAT, 0600);
  Progress progress(file, terminal, steps);
  for (const StepRecord &record : records)
    progress.show(record);
  progress.finish();
  progress.finish();
  ::close(file);
  return TempFolder::read(folder / "x");
}

TEST(Progress, PlainLines) {
  EXPECT_EQ(show(false, {makeRecord()}, 100),
            "step 3/100  loss 2.5000  norm 0.1  12.3k tokens/s  mfu 25.0%  "
            "comm 12%  bubble 0%  0:02 left\n");
  StepRecord last = makeRecord();
  last.step = 100;
  last.mfu.reset();
  last.evalLoss = 3;
  last.nonfinite = 1;
  EXPECT_EQ(show(false, {last}, 100),
            "step 100/100  loss 2.5000  eval loss 3.0000  norm 0.1  12.3k "
            "tokens/s  comm 12%  bubble 0%  1 skipped\n");
}

TEST(Progress, LongRuns) {
  StepRecord record = makeRecord();
  record.stepMs = 1000;
  EXPECT_NE(show(false, {record}, 7503).find("2:05:00 left"),
            std::string::npos);
  record.loss = NAN;
  record.stepMs = NAN;
  EXPECT_NE(show(false, {record}, 7503).find("loss nan"), std::string::npos);
}

// Steps of 20 ms: after the first one every fifth is shown, and the last.
TEST(Progress, TerminalRewritesOneLine) {
  std::vector<StepRecord> records(12, makeRecord());
  for (int i = 0; i < 12; ++i)
    records[i].step = i + 1;
  std::string text = show(true, records, 12);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_TRUE(text.ends_with("\n"));
  for (const char *shown : {"step 1/", "step 6/", "step 11/", "step 12/"})
    EXPECT_NE(text.find(shown), std::string::npos) << shown;
}

TEST(Log, AllocatesNothingPerStep) {
  TempFolder folder;
  Expected<Log> log = Log::open(folder / "log", {"acc"}, false);
  ASSERT_TRUE(log);
  int file = ::open("/dev/null", O_WRONLY);
  Progress progress(file, true, 1000);
  double metric = 1;
  StepRecord record = makeRecord();
  record.metrics = {&metric, 1};
  int64_t before = countAllocations();
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(log->write(record));
    progress.show(record);
  }
  EXPECT_EQ(countAllocations(), before);
  ::close(file);
}
