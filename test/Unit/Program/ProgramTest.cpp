//===- ProgramTest.cpp - Compiled programs run as processes ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Target/Program.h"
#include "../../../runtime/test/io/TempFolder.h"
#include "dist/Conversion/Passes.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "io/SafeTensors.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace dist;

static constexpr int64_t kRows = 8, kColumns = 3;

namespace {
using Floats = std::map<std::string, std::vector<float>>;

std::string replaceAll(std::string text, llvm::StringRef from,
                       llvm::StringRef to) {
  for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to.str());
  return text;
}

class Program : public testing::Test {
protected:
  Program() {
    mlir::DialectRegistry registry;
    registry.insert<DistDialect, nn::NNDialect>();
    registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) {
          errors += diagnostic.str() + "\n";
        });
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      x[i] = static_cast<float>((i * 7 % 11) - 5) / 4;
    for (int64_t i = 0; i < kRows; ++i)
      y[i] = static_cast<float>(i * 3 % 5) - 1;
  }

  static std::string getText(int64_t ranks) {
    std::string text =
        TempFolder::read(DIST_PROGRAM_INPUTS "/least-squares.mlir");
    text = replaceAll(text, "RANKS", std::to_string(ranks));
    text = replaceAll(text, "LOCAL", std::to_string(kRows / ranks));
    return replaceAll(text, "ROWS", std::to_string(kRows));
  }

  mlir::LogicalResult compile(const std::string &text, CompileOptions options) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return mlir::failure();
    options.optimizer = "sgd";
    options.lr = 0.1;
    mlir::FailureOr<MemoryPlan> memory = planMemory(*module);
    if (mlir::failed(memory))
      return mlir::failure();
    return compileProgram(*module, *memory, options);
  }

  std::string compile(int64_t ranks) {
    std::string program = folder / ("train" + std::to_string(ranks));
    CompileOptions options;
    options.output = program;
    EXPECT_TRUE(mlir::succeeded(compile(getText(ranks), options))) << errors;
    return program;
  }

  int run(const std::string &program, std::vector<std::string> arguments) {
    std::vector<llvm::StringRef> argv = {program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    std::string out = folder / "stdout";
    int status = llvm::sys::ExecuteAndWait(
        program, argv, std::nullopt,
        {std::nullopt, llvm::StringRef(out), std::nullopt}, 60);
    output = TempFolder::read(out);
    return status;
  }

  std::string writeInputs() const {
    std::string path = folder / "in.safetensors";
    auto writer = io::SafeTensorsWriter::create(
        path,
        {{"x", io::ElementType::F32, {kRows, kColumns}},
         {"y", io::ElementType::F32, {kRows}}},
        {});
    EXPECT_TRUE(bool(writer));
    EXPECT_FALSE(bool(writer->append(x, sizeof(x))));
    EXPECT_FALSE(bool(writer->append(y, sizeof(y))));
    EXPECT_FALSE(bool(writer->finish()));
    return path;
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

  /// What a dump has after `steps` steps from the parameters of `start`.
  Floats trainHere(const Floats &start, int steps) const {
    std::vector<double> w(start.at("param:w").begin(),
                          start.at("param:w").end()),
        gw(kColumns);
    double b = start.at("param:b")[0], gb = 0, loss = 0, squares = 0;
    for (int step = 0; step < steps; ++step) {
      loss = gb = 0;
      std::fill(gw.begin(), gw.end(), 0);
      for (int64_t i = 0; i < kRows; ++i) {
        double error = b - y[i];
        for (int64_t j = 0; j < kColumns; ++j)
          error += x[i * kColumns + j] * w[j];
        loss += error * error / kRows;
        gb += 2 * error / kRows;
        for (int64_t j = 0; j < kColumns; ++j)
          gw[j] += 2 * error * x[i * kColumns + j] / kRows;
      }
      squares = gb * gb;
      b -= 0.1 * gb;
      for (int64_t j = 0; j < kColumns; ++j) {
        squares += gw[j] * gw[j];
        w[j] -= 0.1 * gw[j];
      }
    }
    Floats result;
    result["loss"] = {static_cast<float>(loss)};
    result["grad_norm"] = {static_cast<float>(std::sqrt(squares))};
    result["param:w"].assign(w.begin(), w.end());
    result["param:b"] = {static_cast<float>(b)};
    result["param:frozen"] = {1, 1, 1, 1};
    result["grad:w"].assign(gw.begin(), gw.end());
    result["grad:b"] = {static_cast<float>(gb)};
    return result;
  }

  TempFolder folder;
  mlir::MLIRContext context;
  std::string errors, output;
  float x[kRows * kColumns], y[kRows];
};
} // namespace

TEST_F(Program, TrainsOnAnyNumberOfRanks) {
  std::string inputs = writeInputs();
  for (int64_t ranks : {1, 2, 4}) {
    std::string program = compile(ranks);
    ASSERT_EQ(run(program, {"--steps", "0", "--dump", folder / "start"}), 0);
    for (int steps : {1, 5}) {
      ASSERT_EQ(run(program, {"--steps", std::to_string(steps), "--inputs",
                              inputs, "--dump", folder / "out"}),
                0);
      Floats found = read(folder / "out");
      Floats expected = trainHere(read(folder / "start"), steps);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto &[name, values] : expected) {
        ASSERT_EQ(found[name].size(), values.size()) << name;
        for (size_t i = 0; i < values.size(); ++i)
          EXPECT_NEAR(found[name][i], values[i], 2e-5)
              << name << " " << i << " on " << ranks;
      }
    }
  }
}

// The manifest says what the module does; one metric shares the loss.
TEST_F(Program, PrintsItsManifest) {
  std::string program = compile(2);
  ASSERT_EQ(run(program, {"--manifest"}), 0);
  auto parsed = llvm::json::parse(output);
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  const llvm::json::Object &manifest = *parsed->getAsObject();
  EXPECT_EQ(*manifest.getNumber("flops_per_step"), 96);
  EXPECT_EQ(llvm::json::Value(manifest.getArray("mesh")->front()),
            llvm::json::Value(llvm::json::Array{"dp", 2}));
  std::map<std::string, const llvm::json::Object *> tensors;
  for (const llvm::json::Value &tensor : *manifest.getArray("tensors"))
    tensors[tensor.getAsObject()->getString("name")->str()] =
        tensor.getAsObject();
  EXPECT_EQ(*tensors.at("x")->getArray("shape"),
            (llvm::json::Array{kRows, kColumns}));
  EXPECT_EQ(*tensors.at("w")->getString("init"), "normal 0.5");
  EXPECT_TRUE(*tensors.at("b")->getBoolean("no_decay"));
  EXPECT_TRUE(*tensors.at("frozen")->getBoolean("frozen"));
  std::string actions;
  for (const llvm::json::Value &action : *manifest.getArray("step"))
    for (const char *kind : {"run", "hook", "copy"})
      if (action.getAsObject()->get(kind))
        actions += std::string(kind) + " ";
  // `w` is computed elsewhere; so is the metric, which is the loss.
  EXPECT_EQ(actions, "run run hook hook run run run copy copy ");
}

TEST_F(Program, SaysWhatIsWrong) {
  CompileOptions options;
  options.output = folder / "train";
  auto expectError = [&](const std::string &text, llvm::StringRef message) {
    errors.clear();
    EXPECT_TRUE(mlir::failed(compile(text, options)));
    EXPECT_NE(errors.find(message.str()), std::string::npos) << errors;
    EXPECT_TRUE(folder.list().empty());
  };
  expectError("module {}", "has no function 'step' to plan the memory of");
  expectError(replaceAll(getText(1), "dist.segment = \"norm\"",
                         "dist.segment = \"other\""),
              "calls 'norm', which has no lowered body");
  expectError(replaceAll(getText(1), "nn.input = \"x\"", "nn.input = \"w\""),
              "has two tensors named 'w'");
  // An argument or a result of the step, its name, its attribute or its type.
  struct Edit {
    const char *from, *to, *message;
  };
  for (Edit edit : {
           Edit{" {nn.lr}", "",
                "has an argument #5 without an attribute that says what it is"},
           Edit{"nn.param = \"b\", nn.init", "nn.param = \"w\", nn.init",
                "w' twice"},
           Edit{"{nn.param = \"frozen\"}, tensor<f32> {nn.loss}",
                "{nn.param = \"other\"}, tensor<f32> {nn.loss}",
                "other', but no such argument"},
           Edit{"tensor<f32> {nn.param = \"b\"},\n",
                "tensor<f32> {nn.param = \"w\"},\n",
                "w', expected 'tensor<3xf32>'"},
           Edit{"nn.input = \"x\"", "nn.input = \"\\FF\"",
                "has a name that is not UTF-8"},
           Edit{"dist.communicators = [[\"dp\"]]", "dist.communicators = [[1]]",
                "expected an array of axes"},
           Edit{"{nn.param = \"w\", nn.init",
                "{dist.logical = \"(a\", nn.param = \"w\", nn.init",
                "'dist.logical': "},
           Edit{"call @norm(%r#1, %r#2) : (tensor<3xf32>, tensor<f32>) -> "
                "tensor<f32>",
                "arith.negf %r#2 : tensor<f32>",
                "expected calls of segments only"},
       })
    expectError(replaceAll(getText(1), edit.from, edit.to), edit.message);
  expectError(replaceAll(getText(1), "dist_all_reduce", "dist_no_such_thing"),
              "the linker failed: ");
  options.cpu = "no-such-cpu";
  expectError(getText(1), "unknown CPU 'no-such-cpu'");
  options.cpu.clear();
  options.output = folder / "no/such/folder";
  expectError(getText(1), "cannot write '" + options.output + "'");
}
