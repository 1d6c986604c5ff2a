//===- MainTest.cpp -------------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../io/TempFolder.h"
#include "TinyProgram.h"
#include "core/Rank.h"
#include "io/SafeTensors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace dist;

static constexpr int64_t kRows = TinyProgram::kRows,
                         kColumns = TinyProgram::kColumns;

namespace {
using Floats = std::map<std::string, std::vector<float>>;

/// A folder with the inputs of the tiny program and its way into it, so that
/// what a run leaves behind does not lie around.
class Main : public testing::Test {
protected:
  Main() {
    std::filesystem::current_path(folder.root);
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      x[i] = static_cast<float>((i * 7 % 11) - 5) / 4;
    for (int64_t i = 0; i < kRows; ++i)
      y[i] = static_cast<float>(i * 3 % 5) - 1;
    writeInputs("in.safetensors");
  }
  ~Main() override {
    tinyHook = {};
    std::filesystem::current_path("/");
  }

  void writeInputs(const std::string &name) {
    auto writer = io::SafeTensorsWriter::create(
        name,
        {{"x", io::ElementType::F32, {kRows, kColumns}},
         {"y", io::ElementType::F32, {kRows}}},
        {});
    ASSERT_TRUE(bool(writer));
    ASSERT_FALSE(bool(writer->append(x, sizeof(x))));
    ASSERT_FALSE(bool(writer->append(y, sizeof(y))));
    ASSERT_FALSE(bool(writer->finish()));
  }

  static Floats read(const std::string &path) {
    auto file = io::SafeTensorsFile::open(path);
    Floats result;
    EXPECT_TRUE(bool(file)) << path;
    if (!file)
      return result;
    for (const io::TensorView &view : file->getTensors()) {
      std::vector<float> &values = result[view.name];
      values.resize(view.bytes / 4);
      std::memcpy(values.data(), view.data, view.bytes);
    }
    return result;
  }

  /// Loss, norm, gradient and parameter after `steps` steps from `w`, in f64.
  Floats trainHere(std::vector<float> start, int steps, double lr = 0.1) const {
    std::vector<double> w(start.begin(), start.end()), grad(kColumns);
    double loss = 0, squares = 0;
    for (int step = 0; step < steps; ++step) {
      loss = squares = 0;
      std::fill(grad.begin(), grad.end(), 0);
      for (int64_t i = 0; i < kRows; ++i) {
        double error = -y[i];
        for (int64_t j = 0; j < kColumns; ++j)
          error += x[i * kColumns + j] * w[j];
        loss += error * error / kRows;
        for (int64_t j = 0; j < kColumns; ++j)
          grad[j] += 2 * error * x[i * kColumns + j] / kRows;
      }
      for (int64_t j = 0; j < kColumns; ++j) {
        squares += grad[j] * grad[j];
        w[j] -= lr * grad[j];
      }
    }
    Floats result;
    result["loss"] = {static_cast<float>(loss)};
    result["grad_norm"] = {static_cast<float>(std::sqrt(squares))};
    result["param:w"].assign(w.begin(), w.end());
    result["grad:w"].assign(grad.begin(), grad.end());
    return result;
  }

  static void expectNear(const Floats &found, const Floats &expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto &[name, values] : expected) {
      ASSERT_EQ(found.count(name), 1u) << name;
      ASSERT_EQ(found.at(name).size(), values.size()) << name;
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(found.at(name)[i], values[i], 2e-5) << name << " " << i;
    }
  }

  static std::vector<nlohmann::json> readLog(const std::string &path) {
    std::vector<nlohmann::json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
      lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  TempFolder folder;
  float x[kRows * kColumns], y[kRows];
};
} // namespace

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

TEST_F(Main, StepsZeroWritesTheInitialState) {
  TinyProgram one(1), four(4);
  EXPECT_EQ(one.run({"--steps", "0", "--dump", "a"}), 0) << one.errors;
  EXPECT_EQ(four.run({"--steps", "0", "--dump", "b", "--seed", "0"}), 0);
  EXPECT_EQ(read("a"), read("b"));
  EXPECT_EQ(read("a").size(), 1u);
  EXPECT_EQ(four.run({"--steps=0", "--dump=c", "--seed=1"}), 0);
  EXPECT_NE(read("a"), read("c"));
}

// 5 rows over 1, 2 and 4 ranks, the last of which has none of them.
TEST_F(Main, TrainsLikeOneDevice) {
  for (int64_t ranks : {1, 2, 4})
    for (int steps : {1, 7}) {
      TinyProgram tiny(ranks);
      ASSERT_EQ(tiny.run({"--steps", "0", "--dump", "start"}), 0);
      ASSERT_EQ(tiny.run({"--steps", std::to_string(steps), "--inputs",
                          "in.safetensors", "--dump", "out", "--log", "log"}),
                0)
          << tiny.errors;
      Floats found = read("out");
      Floats expected = trainHere(read("start")["param:w"], steps);
      expectNear(found, expected);
      std::vector<nlohmann::json> log = readLog("log");
      ASSERT_EQ(log.size(), static_cast<size_t>(steps));
      EXPECT_EQ(log.back()["step"], steps);
      EXPECT_EQ(log.back()["loss"], found["loss"][0]);
      EXPECT_EQ(log.back()["squares"], found["loss"][0]);
      EXPECT_EQ(log.back()["grad_norm"], found["grad_norm"][0]);
      EXPECT_EQ(log.back()["peak_bytes"], 640);
    }
}

TEST_F(Main, LearningRateOverridesThePlan) {
  TinyProgram tiny(2);
  ASSERT_EQ(tiny.run({"--steps", "0", "--dump", "start"}), 0);
  ASSERT_EQ(tiny.run({"--steps", "3", "--inputs", "in.safetensors", "--dump",
                      "out", "--lr", "0.02"}),
            0);
  expectNear(read("out"), trainHere(read("start")["param:w"], 3, 0.02));
}

// After the update, the first row of x takes the place of w.
TEST_F(Main, PlaysCopies) {
  TinyProgram tiny(1);
  nlohmann::json document = nlohmann::json::parse(tiny.manifest);
  document["step"].push_back(
      {{"copy", kColumns * 4}, {"at", {0, TinyProgram::kParameterOffset}}});
  HandProgram program(document, tiny.segments);
  ASSERT_EQ(program.run({"--steps", "1", "--inputs", "in.safetensors", "--dump",
                         "out"}),
            0)
      << program.errors;
  EXPECT_EQ(read("out")["param:w"], std::vector<float>(x, x + kColumns));
}

// Two runs in one process give the same bits.
TEST_F(Main, RunsAgain) {
  TinyProgram tiny(2);
  for (const char *out : {"a", "b"})
    ASSERT_EQ(
        tiny.run({"--steps", "5", "--inputs", "in.safetensors", "--dump", out}),
        0);
  EXPECT_EQ(read("a"), read("b"));
}

// 2 + 3 steps are 5, on the same plan bit for bit, on another nearly.
TEST_F(Main, GoesOnFromACheckpoint) {
  TinyProgram two(2), four(4), one(1);
  ASSERT_EQ(two.run({"--steps", "5", "--inputs", "in.safetensors", "--dump",
                     "straight", "--save", "straight-save"}),
            0);
  ASSERT_EQ(
      two.run({"--steps", "2", "--inputs", "in.safetensors", "--save", "half"}),
      0)
      << two.errors;
  ASSERT_EQ(two.run({"--steps", "5", "--inputs", "in.safetensors", "--load",
                     "half", "--dump", "resumed", "--save", "resumed-save"}),
            0)
      << two.errors;
  EXPECT_EQ(read("straight"), read("resumed"));
  EXPECT_EQ(read("straight-save/model-00001-of-00001.safetensors"),
            read("resumed-save/model-00001-of-00001.safetensors"));
  for (TinyProgram *other : {&four, &one}) {
    ASSERT_EQ(other->run({"--steps", "5", "--inputs", "in.safetensors",
                          "--load", "half", "--dump", "other"}),
              0);
    expectNear(read("other"), read("straight"));
  }
}

TEST_F(Main, LoadParamsBeginsAtStepOne) {
  TinyProgram two(2);
  ASSERT_EQ(two.run({"--steps", "2", "--inputs", "in.safetensors", "--save",
                     "half", "--dump", "half-dump"}),
            0);
  ASSERT_EQ(two.run({"--steps", "3", "--inputs", "in.safetensors",
                     "--load-params", "half", "--dump", "out"}),
            0)
      << two.errors;
  expectNear(read("out"), trainHere(read("half-dump")["param:w"], 3));
}

TEST_F(Main, TraceIsJson) {
  TinyProgram two(2);
  ASSERT_EQ(two.run({"--steps", "3", "--inputs", "in.safetensors", "--trace",
                     "trace.json"}),
            0)
      << two.errors;
  std::ifstream file("trace.json");
  nlohmann::json trace = nlohmann::json::parse(file);
  int64_t reductions = 0, marks = 0;
  for (const nlohmann::json &event : trace["traceEvents"]) {
    reductions += event["name"] == "grads";
    marks += event["name"] == "errors" && event["cat"] == "loop";
  }
  EXPECT_EQ(reductions, 3 * 2);
  EXPECT_EQ(marks, 3 * 2);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

TEST_F(Main, StopOnNonFinite) {
  TinyProgram two(2);
  y[4] = NAN;
  writeInputs("nan.safetensors");
  EXPECT_EQ(two.run({"--steps", "4", "--inputs", "nan.safetensors",
                     "--stop-on-nonfinite"}),
            2);
  EXPECT_NE(two.errors.find("step 1"), std::string::npos) << two.errors;
  // Otherwise the step is skipped and counted.
  EXPECT_EQ(two.run({"--steps", "0", "--dump", "start"}), 0);
  EXPECT_EQ(two.run({"--steps", "4", "--inputs", "nan.safetensors", "--dump",
                     "out", "--log", "log"}),
            0);
  EXPECT_EQ(read("start")["param:w"], read("out")["param:w"]);
  EXPECT_EQ(readLog("log").back()["nonfinite"], 4);
}

TEST_F(Main, SignalEndsAfterTheStep) {
  TinyProgram two(2);
  for (int signal : {SIGINT, SIGTERM}) {
    static int raised;
    raised = signal;
    tinyHook.body = [](dist_rank *rank, int64_t step) {
      if (step == 3 && dist_axis_index(rank, 0) == 1)
        kill(getpid(), raised);
    };
    EXPECT_EQ(two.run({"--steps", "9", "--inputs", "in.safetensors", "--save",
                       "saved", "--log", "log"}),
              130);
    EXPECT_EQ(readLog("log").size(), 3u);
    tinyHook = {};
    EXPECT_EQ(two.run({"--steps", "3", "--load", "saved", "--dump", "out"}), 0)
        << two.errors;
  }
}

// Parameters that are stored twice are compared before they are written.
TEST_F(Main, ReplicasThatDifferAreNotSaved) {
  TinyProgram two(2);
  tinyHook.body = [](dist_rank *rank, int64_t step) {
    if (step == 2 && rank->index == 1)
      HandProgram::at<float>(rank->arena, TinyProgram::kParameterOffset)[2] = 7;
  };
  EXPECT_EQ(two.run({"--steps=1", "--inputs=in.safetensors", "--save=saved"}),
            0);
  Floats before = read("saved/model-00001-of-00001.safetensors");
  EXPECT_EQ(two.run({"--steps=3", "--inputs=in.safetensors", "--save=saved",
                     "--dump=out"}),
            3);
  EXPECT_EQ(two.errors, "error: step 3: 'w' differs between ranks 0 and 1, "
                        "which have the same block of it\n");
  EXPECT_EQ(read("saved/model-00001-of-00001.safetensors"), before);
  EXPECT_FALSE(std::filesystem::exists("out"));
}

TEST_F(Main, IndexErrorIsTheInputsFault) {
  TinyProgram two(2);
  tinyHook.body = [](dist_rank *rank, int64_t step) {
    if (step == 2 && dist_axis_index(rank, 0) == 1)
      dist_index_error(rank, "tokens", 3, 300, 256);
  };
  EXPECT_EQ(two.run({"--steps", "9", "--inputs", "in.safetensors", "--save",
                     "saved", "--dump", "out"}),
            1);
  EXPECT_EQ(two.errors, "error: step 2: 'tokens' is 300 at row 3 of rank 1, "
                        "expected 0 to 255\n");
  EXPECT_FALSE(std::filesystem::exists("saved"));
  EXPECT_FALSE(std::filesystem::exists("out"));
}

// A rank that never comes back ends the process, with the reason.
TEST_F(Main, HangingRankIsGivenUp) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  TinyProgram two(2);
  tinyHook.body = [](dist_rank *rank, int64_t step) {
    while (step == 2 && dist_axis_index(rank, 0) == 1)
      usleep(1000);
  };
  setenv("DIST_TIMEOUT", "2", 1);
  std::string path = folder.root + "/in.safetensors";
  std::vector<std::string> words = {"train", "--steps=9", "--inputs=" + path};
  char *argv[] = {words[0].data(), words[1].data(), words[2].data()};
  EXPECT_EXIT(dist_main(&two.program, 3, argv), testing::ExitedWithCode(3),
              "rank 0 waited 2 s in all_reduce sum 'grads' of 1 \\+ 3 f32 over "
              "\\(dp\\) for rank 1 \\(in segment ''\\)");
  unsetenv("DIST_TIMEOUT");
}

TEST_F(Main, FailedRankTellsTheLastOperations) {
  TinyProgram two(2);
  tinyHook.body = [](dist_rank *rank, int64_t step) {
    float value[2] = {};
    if (step == 2 && dist_axis_index(rank, 0) == 1)
      dist_all_gather(rank, 0, DIST_F32, value, value, 1, "stray");
  };
  EXPECT_EQ(two.run({"--steps", "9", "--inputs", "in.safetensors"}), 3);
  EXPECT_EQ(two.errors.find(
                "error: step 2: rank 0 calls all_reduce sum 'grads' of 1 + 3 "
                "f32 over (dp), rank 1 calls all_gather 'stray' of 1 f32\n"),
            0u)
      << two.errors;
  EXPECT_NE(two.errors.find("last operations of rank 1:\n  step 1 segment 0\n"),
            std::string::npos)
      << two.errors;
  std::ifstream log("dist-abort-" + std::to_string(getpid()) + ".log");
  std::string text((std::istreambuf_iterator<char>(log)), {});
  EXPECT_NE(text.find("'stray' over (dp)"), std::string::npos) << text;
  tinyHook = {};
  EXPECT_EQ(two.run({"--steps", "2", "--inputs", "in.safetensors"}), 0);
}

//===----------------------------------------------------------------------===//
// Bad input
//===----------------------------------------------------------------------===//

TEST_F(Main, UsageErrors) {
  TinyProgram two(2);
  auto expectError = [&](std::vector<std::string> arguments,
                         const std::string &message) {
    EXPECT_EQ(two.run(arguments), 1);
    EXPECT_EQ(two.errors, "error: " + message + "\n");
  };
  expectError({}, "--steps is missing; --help lists the options");
  expectError({"--step", "3"},
              "unknown option '--step'; --help lists the options");
  expectError({"--steps"}, "--steps has no value, expected an integer from 0");
  expectError({"--steps", "-3"}, "--steps is '-3', expected an integer from 0");
  expectError({"--steps", "3x"}, "--steps is '3x', expected an integer from 0");
  expectError({"--steps=3", "--lr=nan"},
              "--lr is 'nan', expected a number from 0");
  expectError({"--steps=3", "--decay=sine"},
              "--decay is 'sine', expected cosine, linear or wsd");
  expectError({"--help=3"}, "--help takes no value");
  expectError({"--steps=1", "--load=a", "--load-params=b"},
              "--load and --load-params exclude each other");
  expectError({"--steps=1", "--save-every=1"}, "--save-every needs --save");
  expectError({"--steps=1", "--eval-every=1"},
              "--eval-every needs --eval-data");
  expectError({"--steps=1", "--eval-data=x"},
              "--eval-data: the program was compiled without evaluation");
  expectError({"--steps=1"},
              "input 'x' comes from nowhere: give it by --inputs");
}

TEST_F(Main, WrongInputs) {
  TinyProgram two(2);
  EXPECT_EQ(two.run({"--steps=1", "--inputs=none"}), 1);
  EXPECT_NE(two.errors.find("none"), std::string::npos);
  auto writer = io::SafeTensorsWriter::create(
      "bad", {{"x", io::ElementType::F32, {kColumns, kRows}}}, {});
  ASSERT_FALSE(bool(writer->append(x, sizeof(x))));
  ASSERT_FALSE(bool(writer->finish()));
  EXPECT_EQ(two.run({"--steps=1", "--inputs=bad"}), 1);
  EXPECT_EQ(two.errors, "error: input 'x' is 3x5, expected 5x3\n");
}

// What cannot be written is refused before the first step.
TEST_F(Main, UnwritableFiles) {
  TinyProgram two(2);
  auto expectError = [&](const std::string &option, const std::string &part) {
    EXPECT_EQ(two.run({"--steps=1", "--inputs=in.safetensors", option}), 1);
    EXPECT_NE(two.errors.find(part), std::string::npos) << two.errors;
    EXPECT_EQ(two.output, "");
  };
  expectError("--dump=none/out", "error: --dump: cannot write 'none/out': No "
                                 "such file or directory");
  expectError("--trace=.", "error: --trace: '.' is a folder, expected a file");
  expectError("--log=none/log", "none/log");
  expectError("--save=in.safetensors/x", "in.safetensors/x");
}

TEST_F(Main, WrongProgram) {
  TinyProgram two(2);
  two.program.abi_version = 99;
  EXPECT_EQ(two.run({"--steps=0"}), 1);
  EXPECT_EQ(two.errors, "error: the program was compiled for version 99 of the "
                        "runtime, this is 1\n");
  two.program.abi_version = DIST_ABI_VERSION;
  std::string text = two.manifest;
  text.insert(1, R"("cpu_features":["avx1024"],)");
  two.program.manifest = text.data();
  two.program.manifest_bytes = text.size();
  EXPECT_EQ(two.run({"--steps=0"}), 1);
  EXPECT_EQ(two.errors, "error: the program needs the CPU feature 'avx1024', "
                        "which this runtime does not know\n");
}

TEST_F(Main, HelpAndManifest) {
  TinyProgram two(2);
  EXPECT_EQ(two.run({"--help"}), 0);
  EXPECT_NE(two.output.find("--stop-on-nonfinite"), std::string::npos);
  EXPECT_EQ(two.run({"--manifest"}), 0);
  EXPECT_EQ(two.output, two.manifest + "\n");
}
