//===- distc.cpp - From a model and a plan to a program -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "dist/Conversion/Passes.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interfaces/ExternalModels.h"
#include "dist/Report/Report.h"
#include "dist/Target/Program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include <chrono>

using namespace mlir;
using namespace dist;

/// Prints a message and returns the exit status of a failure.
static int fail(const llvm::Twine &message) {
  llvm::errs() << message << '\n';
  return 1;
}

/// Writes a file, or standard output for `-`, whole or not at all.
static int writeFile(StringRef path,
                     function_ref<void(llvm::raw_ostream &)> write) {
  if (path == "-") {
    write(llvm::outs());
    return 0;
  }
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    write(os);
    return llvm::Error::success();
  });
  if (!error)
    return 0;
  return fail("error: cannot write '" + path +
              "': " + llvm::toString(std::move(error)));
}

/// Prints the IR where it is asked for.
static int writeModule(ModuleOp module, const CommandLine &line) {
  return writeFile(line.output.empty() ? "-" : line.output,
                   [&](llvm::raw_ostream &os) { module.print(os); });
}

static LogicalResult runPhase(ModuleOp module, Phase phase,
                              const PipelineOptions &options) {
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  buildPhase(pm, phase, options);
  return pm.run(module);
}

/// Generates code for a module in the phase `runtime` and links the program.
static int writeProgram(ModuleOp module, const CommandLine &line) {
  if (line.target != "host")
    return fail("error: no code is generated for target '" + line.target +
                "' yet; use --target host, --emit or --dry-run");
  const Plan &plan = line.options.plan;
  CompileOptions options;
  options.output = line.output;
  options.name = llvm::sys::path::filename(line.output).str();
  options.cpu = line.cpu;
  options.threads = plan.threads;
  options.optimizer = plan.optimizer.name;
  options.lr = plan.optimizer.lr;
  return succeeded(compileProgram(module, options)) ? 0 : 1;
}

/// Writes the report where it is asked for.
static int writeReport(const Report &report, const CommandLine &line) {
  if (line.explain)
    printText(report, llvm::outs());
  if (line.report.empty())
    return 0;
  return writeFile(line.report,
                   [&](llvm::raw_ostream &os) { printJson(report, os); });
}

static int compile(ModuleOp module, const CommandLine &line) {
  std::optional<Phase> emit = lookupPhase(line.emit);
  Report report;
  for (Phase phase : getPhases()) {
    auto start = std::chrono::steady_clock::now();
    if (failed(runPhase(module, phase, line.options)))
      return 1;
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    report.compileMs.emplace_back(getName(phase), time.count());
    if (phase == Phase::Step) // the specification, nothing computed twice
      report.modelFlops = countFlops(module);
    if (phase == Phase::Local)
      collectFromLocal(module, report);
    bool isReportAll = !emit && (line.dryRun || line.output.empty());
    if (phase == emit || (phase == Phase::Local && isReportAll))
      break;
  }
  if (writeReport(report, line))
    return 1;
  if (emit)
    return writeModule(module, line);
  return line.output.empty() || line.dryRun ? 0 : writeProgram(module, line);
}

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  registry.insert<DistDialect, nn::NNDialect, arith::ArithDialect,
                  func::FuncDialect, math::MathDialect>();
  registerExternalModels(registry);
  registerKernelDialects(registry);
  return registry;
}

/// Hands MLIR the flags that are its own.
static void applyMlirFlags(const char *program, const CommandLine &line) {
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  SmallVector<const char *> args = {program};
  for (const std::string &flag : line.mlirFlags)
    args.push_back(flag.c_str());
  llvm::cl::ParseCommandLineOptions(args.size(), args.data());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::Expected<CommandLine> line =
      parseCommandLine(ArrayRef(argv, argc).drop_front());
  if (!line)
    return fail(llvm::toString(line.takeError()));
  if (line->help) {
    printHelp(llvm::outs());
    return 0;
  }
  applyMlirFlags(argv[0], *line);

  MLIRContext context(getRegistry());
  context.printOpOnDiagnostic(false); // the user's file and line are enough
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(line->model, &message);
  if (!file)
    return fail("error: " + message);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  return module ? compile(*module, *line) : 1;
}
