//===- DataTest.cpp -------------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../io/TempFolder.h"
#include "MeanProgram.h"
#include "io/DataReader.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace dist;
using nlohmann::json;

static constexpr int64_t kBatch = MeanProgram::kBatch, kSeq = MeanProgram::kSeq,
                         kVocab = MeanProgram::kVocab;

namespace {
class Data : public testing::Test {
protected:
  Data() : one(1), two(2) {
    std::filesystem::current_path(folder.root);
    for (int64_t i = 0; i < 47; ++i) // 15 windows, 3 batches and 3 windows.
      text += static_cast<char>(i * 37 % kVocab);
    folder.write("text", text);
  }
  ~Data() override { std::filesystem::current_path("/"); }

  static std::vector<json> readLog() {
    std::vector<json> lines;
    std::ifstream file("log");
    for (std::string line; std::getline(file, line);)
      lines.push_back(json::parse(line));
    return lines;
  }

  /// The means of the targets of `batches` batches with seed 3.
  std::vector<double> getMeans(int batches) const {
    auto reader = io::DataReader::open({.paths = {"text"},
                                        .batch = kBatch,
                                        .seq = kSeq,
                                        .vocab = kVocab,
                                        .seed = 3});
    std::vector<double> means;
    for (int i = 0; i < batches; ++i) {
      int32_t targets[kBatch * kSeq];
      reader->nextBatch();
      EXPECT_FALSE(
          bool(reader->copyBatch(io::TensorBlock::whole({kBatch, kSeq}),
                                 io::ElementType::I32, nullptr, targets)));
      double sum = 0;
      for (int32_t target : targets)
        sum += target;
      means.push_back(sum / (kBatch * kSeq));
    }
    return means;
  }

  TempFolder folder;
  MeanProgram one, two;
  std::string text;
};
} // namespace

TEST_F(Data, EveryMeshSeesTheSameBatches) {
  std::vector<double> means = getMeans(9);
  for (MeanProgram *program : {&one, &two}) {
    ASSERT_EQ(
        program->run({"--steps=9", "--data=text", "--seed=3", "--log=log"}), 0)
        << program->errors;
    std::vector<json> log = readLog();
    ASSERT_EQ(log.size(), 9u);
    for (size_t i = 0; i < 9; ++i)
      EXPECT_NEAR(log[i]["loss"], means[i], 1e-12);
  }
}

TEST_F(Data, ACheckpointKnowsThePlaceInTheData) {
  std::vector<double> means = getMeans(9);
  ASSERT_EQ(two.run({"--steps=4", "--data=text", "--seed=3", "--save=saved"}),
            0)
      << two.errors;
  ASSERT_EQ(one.run({"--steps=9", "--data=text", "--load=saved", "--log=log"}),
            0)
      << one.errors;
  std::vector<json> log = readLog();
  ASSERT_EQ(log.size(), 5u);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(log[i]["loss"], means[4 + i], 1e-12);
}

// Every two steps and at the end, over the whole batches in file order.
TEST_F(Data, Evaluates) {
  double expected = 0;
  for (int64_t i = 0; i < 3 * kBatch * kSeq; ++i)
    expected += static_cast<double>(text[i]) / (3 * kBatch * kSeq);
  std::vector<double> means = getMeans(5);
  ASSERT_EQ(two.run({"--steps=5", "--data=text", "--seed=3", "--eval-data=text",
                     "--eval-every=2", "--log=log"}),
            0)
      << two.errors;
  std::vector<json> log = readLog();
  ASSERT_EQ(log.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    bool due = i == 1 || i == 3 || i == 4;
    EXPECT_EQ(log[i].contains("eval_loss") && !log[i]["eval_loss"].is_null(),
              due);
    if (due)
      EXPECT_NEAR(log[i]["eval_loss"], expected, 1e-12);
    EXPECT_NEAR(log[i]["loss"], means[i], 1e-12);
  }
}

// A loaded state is evaluated as it is.
TEST_F(Data, EvaluatesAlone) {
  ASSERT_EQ(one.run({"--steps=2", "--data=text", "--save=saved",
                     "--eval-data=text", "--log=log"}),
            0);
  json trained = readLog().back();
  ASSERT_EQ(
      two.run({"--steps=2", "--load=saved", "--eval-data=text", "--log=log2"}),
      0)
      << two.errors;
  std::ifstream file("log2");
  json alone = json::parse(file);
  EXPECT_EQ(alone["step"], 2);
  EXPECT_TRUE(alone["loss"].is_null());
  EXPECT_NEAR(alone["eval_loss"], trained["eval_loss"], 1e-12);
}

TEST_F(Data, Errors) {
  auto expectError = [&](std::vector<std::string> arguments,
                         const std::string &part) {
    EXPECT_EQ(two.run(arguments), 1);
    EXPECT_NE(two.errors.find(part), std::string::npos) << two.errors;
  };
  expectError({"--steps=1"}, "error: input 'tokens' comes from nowhere: give "
                             "it by --data or --inputs");
  expectError({"--steps=1", "--data=none"}, "none");
  folder.write("short", "abcdefghi");
  expectError({"--steps=1", "--data=text", "--eval-data=short"},
              "--eval-data holds less than a batch of 4 windows of 3 tokens");
  folder.write("bad", text + std::string(3, '\xff'));
  expectError({"--steps=9", "--data=bad"}, "'bad'");
}
