//===- dist-interp.cpp - Runs a program of any phase ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interpreter/Comparison.h"
#include "dist/Interpreter/Validation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include <csignal>

using namespace mlir;
using namespace dist::interp;
namespace cl = llvm::cl;

static cl::OptionCategory category("dist-interp options");
static cl::opt<std::string> fileName(cl::Positional, cl::Required,
                                     cl::desc("FILE.mlir"), cl::cat(category));
static cl::opt<std::string>
    entry("entry", cl::value_desc("name"), cl::cat(category),
          cl::desc("The function to run (default: step from that phase on, "
                   "else loss)"));
static cl::opt<std::string>
    inputsName("inputs", cl::value_desc("file"), cl::cat(category),
               cl::desc("Arguments by name (safetensors); others are "
                        "initialized, or drawn at random"));
static cl::opt<std::string> outputsName("outputs", cl::value_desc("file"),
                                        cl::cat(category),
                                        cl::desc("Results by name "
                                                 "(safetensors)"));
static cl::opt<bool> f64("f64", cl::cat(category),
                         cl::desc("Compute all floats in f64"));
static cl::opt<std::string>
    against("against", cl::value_desc("file"), cl::cat(category),
            cl::desc("Compare with this program on the same inputs"));
static cl::opt<double>
    tolerance("tolerance", cl::init(-1), cl::cat(category),
              cl::desc("Largest relative difference that --against accepts "
                       "(default: 1e-10 with --f64, else 2e-5)"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::cat(category),
                              cl::desc("Seed of initial values, inputs and "
                                       "the step's key (default: 0)"));
static cl::opt<int64_t> numSteps("steps", cl::init(1), cl::cat(category),
                                 cl::desc("Steps to run; parameters and states "
                                          "are fed back (default: 1)"));
static cl::opt<int64_t> firstStep("step", cl::init(1), cl::cat(category),
                                  cl::desc("Number of the first step "
                                           "(default: 1)"));
static cl::opt<double> learningRate("lr", cl::init(1e-3), cl::cat(category),
                                    cl::desc("Learning rate (default: 1e-3)"));
static cl::opt<bool> print("print", cl::cat(category),
                           cl::desc("Print all results"));

static LogicalResult fail(const llvm::Twine &message) {
  llvm::errs() << "dist-interp: error: " << message << '\n';
  return failure();
}

namespace {
/// A parsed file; diagnostics show its lines.
struct SourceFile {
  llvm::SourceMgr sources;
  std::unique_ptr<SourceMgrDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;

  LogicalResult parse(StringRef name, MLIRContext *context) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(name);
    if (std::error_code error = buffer.getError())
      return fail("cannot read '" + name + "': " + error.message());
    sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    handler = std::make_unique<SourceMgrDiagnosticHandler>(sources, context);
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(context));
    return success(bool(module));
  }
};
} // namespace

/// Compares, prints the error of every result, and fails over the tolerance.
static LogicalResult report(const NamedTensors &results,
                            const NamedTensors &reference) {
  double limit = tolerance >= 0 ? tolerance : f64 ? 1e-10 : 2e-5;
  bool isClose = true;
  for (const Difference &difference :
       compare(results, reference, learningRate, numSteps)) {
    bool isOver = !(difference.error <= limit);
    llvm::outs() << difference.name << ": "
                 << llvm::format("%.3g", difference.error)
                 << (isOver ? " over the tolerance\n" : "\n");
    isClose &= !isOver;
  }
  return success(isClose);
}

static LogicalResult write(const NamedTensors &results) {
  if (print)
    for (const auto &[name, tensor] : results) {
      llvm::outs() << name << " = ";
      tensor.print(llvm::outs());
      llvm::outs() << '\n';
    }
  if (outputsName.empty())
    return success();
  if (llvm::Error error = writeTensors(outputsName, results))
    return fail(llvm::toString(std::move(error)));
  return success();
}

static LogicalResult run(ModuleOp module, const InputSource &source) {
  NamedTensors inputs;
  FailureOr<Program> program =
      Program::create(module, entry, {.f64 = f64}, source.getShapes());
  if (failed(program) || failed(source.fill(*program, inputs)))
    return failure();
  FailureOr<NamedTensors> results = source.run(*program, inputs);
  return failed(results) ? failure() : write(*results);
}

static LogicalResult runAgainst(ModuleOp module, ModuleOp reference,
                                const InputSource &source) {
  FailureOr<ResultPair> pair =
      runBoth(module, entry, reference, {.f64 = f64}, source);
  if (failed(pair) || failed(write(pair->results)))
    return failure();
  return report(pair->results, pair->expected);
}

static LogicalResult runTool() {
  if (numSteps < 1 || firstStep < 1)
    return fail("--steps and --step must be positive");
  DialectRegistry registry;
  registry.insert<dist::DistDialect, dist::nn::NNDialect, arith::ArithDialect,
                  func::FuncDialect, math::MathDialect>();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  InputSource source({.seed = seed,
                      .learningRate = learningRate,
                      .firstStep = firstStep,
                      .numSteps = numSteps});
  NamedTensors file;
  if (!inputsName.empty()) {
    llvm::Expected<NamedTensors> read = readTensors(inputsName);
    if (!read)
      return fail(llvm::toString(read.takeError()));
    file = std::move(*read);
    source.setFile(file);
  }
  SourceFile program, reference;
  if (failed(program.parse(fileName, &context)))
    return failure();
  if (!against.empty() && failed(reference.parse(against, &context)))
    return failure();
  if (!against.empty())
    return runAgainst(program.module.get(), reference.module.get(), source);
  return run(program.module.get(), source);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that may not grow is an error of the write, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Runs a program of any phase on all its ranks\n");
  return failed(runTool());
}
