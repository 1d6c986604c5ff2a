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
#include "dist/Interpreter/Validation.h"
#include "dist/Report/Report.h"
#include "dist/Target/LibraryMemory.h"
#include "dist/Target/Program.h"
#include "io/PartialFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>
#include <csignal>

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
  io::Expected<io::PartialFile> partial = io::PartialFile::create(path.str());
  if (!partial)
    return fail("error: " + partial.takeError().message());
  std::error_code error;
  llvm::raw_fd_ostream os(partial->getPath(), error);
  if (!error) {
    write(os);
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return fail("error: cannot write '" + path + "': " + error.message());
  if (io::Error failure = partial->commit())
    return fail("error: " + failure.message());
  return 0;
}

/// Ends with `status`, or with a failure where standard output is full.
static int closeOutput(int status) {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  return error ? fail("error: cannot write to standard output: " +
                      error.message())
               : status;
}

/// Verifies the module once, not after every pass: that is what `dist-opt` and
/// the tests do.
static LogicalResult runPhase(ModuleOp module, Phase phase,
                              const PipelineOptions &options,
                              TimingScope &timing) {
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  pm.enableVerifier(false);
  TimingScope phaseTiming = timing.nest(getName(phase));
  pm.enableTiming(phaseTiming);
  buildPhase(pm, phase, options);
  return success(succeeded(pm.run(module)) && succeeded(verify(module)));
}

/// Generates code for a module in the phase `runtime` and links the program.
static int writeProgram(ModuleOp module, const MemoryPlan &memory,
                        const CommandLine &line, TimingScope &timing) {
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
  options.timing = &timing;
  return succeeded(compileProgram(module, memory, options)) ? 0 : 1;
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

static bool isReportWanted(const CommandLine &line) {
  return line.explain || !line.report.empty();
}

/// Takes `module` from phase to phase up to the last one that is asked for;
/// `text` becomes the IR of the phase to print.
static LogicalResult runPhases(ModuleOp module, const CommandLine &line,
                               TimingScope &timing, Report &report,
                               std::string &text) {
  std::optional<Phase> emit = lookupPhase(line.emit);
  OwningOpRef<ModuleOp> step; // to compare with, if asked
  for (Phase phase : getPhases()) {
    auto start = std::chrono::steady_clock::now();
    if (failed(runPhase(module, phase, line.options, timing)))
      return failure();
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    report.compileMs.emplace_back(getName(phase), time.count());
    if (phase == Phase::Step) // the specification, nothing computed twice
      report.modelFlops = countFlops(module);
    if (phase == Phase::Step && line.verifyAgainstStep)
      step = module.clone();
    if (phase == Phase::Local && step &&
        failed(interp::verifyAgainstStep(module, *step,
                                         line.options.plan.optimizer.lr)))
      return failure();
    if (phase == Phase::Local)
      collectFromLocal(module, report);
    if (phase == emit) {
      llvm::raw_string_ostream os(text);
      module.print(os);
      if (!isReportWanted(line))
        break;
    }
  }
  return success();
}

/// Plans the memory of a module in the phase `runtime`.
static FailureOr<MemoryPlan>
planAndMeasure(ModuleOp module, const CommandLine &line, Report &report) {
  FailureOr<MemoryPlan> plan = planMemory(module);
  if (failed(plan))
    return failure();
  report.memory = plan->report;
  if (!isReportWanted(line) || line.target != "host")
    return plan;
  FailureOr<int64_t> bytes =
      measureLibraryMemory(module, line.options.plan.threads);
  if (failed(bytes))
    return failure();
  report.libraryBytes = *bytes;
  return plan;
}

static int compile(ModuleOp module, const CommandLine &line,
                   TimingScope &timing) {
  Report report;
  std::string text;
  FailureOr<MemoryPlan> memory = failure();
  if (failed(runPhases(module, line, timing, report, text)))
    return 1;
  bool isWhole = report.compileMs.back().first == getName(Phase::Runtime);
  if (isWhole && failed(memory = planAndMeasure(module, line, report)))
    return 1;
  if (writeReport(report, line))
    return 1;
  if (!line.emit.empty())
    return writeFile(line.output.empty() ? "-" : line.output,
                     [&](llvm::raw_ostream &os) { os << text; });
  if (line.output.empty() || line.dryRun)
    return 0;
  return writeProgram(module, *memory, line, timing);
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
  // A file that may not grow is an error of the write, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::Expected<CommandLine> line =
      parseCommandLine(ArrayRef(argv, argc).drop_front());
  if (!line)
    return fail(llvm::toString(line.takeError()));
  if (line->help) {
    printHelp(llvm::outs());
    return closeOutput(0);
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
  DefaultTimingManager timings;
  applyDefaultTimingManagerCLOptions(timings);
  TimingScope timing = timings.getRootScope();
  TimingScope parsing = timing.nest("Parser");
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  parsing.stop();
  return closeOutput(module ? compile(*module, *line, timing) : 1);
}
