//===- ObjectCode.cpp - From the LLVM dialect to an object file -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Target/ObjectCode.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace dist;

/// The host's features as LLVM writes them: "+avx2,-avx512f,...".
static std::string getHostFeatures() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return llvm::join(features, ",");
}

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(Location loc, const ObjectOptions &options) {
  // Once: objects are emitted on several threads.
  [[maybe_unused]] static const bool isInitialized =
      !llvm::InitializeNativeTarget() &&
      !llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return emitError(loc, error);

  bool isHost = options.cpu.empty();
  std::string cpu = isHost ? llvm::sys::getHostCPUName().str() : options.cpu;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!subtarget->isCPUStringValid(cpu))
    return emitError(loc, "unknown CPU '")
           << cpu << "', expected one that LLVM knows for " << triple.str();
  std::string features = isHost ? getHostFeatures() : "";
  // Some CPUs with 512-bit vectors are tuned for 256; our loops are long.
  if (triple.isX86())
    features += features.empty() ? "-prefer-256-bit" : ",-prefer-256-bit";
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, {}, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

/// Without triple, layout and features on the module and its functions, LLVM
/// optimises for no machine in particular and does not vectorise.
static void setTarget(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
}

static llvm::OptimizationLevel getLevel(unsigned level) {
  const llvm::OptimizationLevel *levels[] = {
      &llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1,
      &llvm::OptimizationLevel::O2, &llvm::OptimizationLevel::O3};
  return *levels[std::min(level, 3u)];
}

/// LLVM's own pipeline, less the vectorizer of straight-line code: kernels are
/// loops, and on some sums in f64 that one does not come to an end.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(getLevel(level)).run(module, modules);
}

void dist::registerObjectTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
}

LogicalResult dist::emitObject(ModuleOp module, const ObjectOptions &options,
                               llvm::raw_pwrite_stream &os) {
  auto machine = createTargetMachine(module.getLoc(), options);
  if (failed(machine))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, "kernels");
  if (!translated)
    return module.emitError("expected a module in the LLVM dialect");
  setTarget(*translated, **machine);
  optimize(*translated, **machine, options.optLevel);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return module.emitError("the target cannot write object files");
  passes.run(*translated);
  return success();
}

FailureOr<std::vector<std::string>>
dist::lookupCpuFeatures(Location loc, const ObjectOptions &options) {
  auto machine = createTargetMachine(loc, options);
  if (failed(machine))
    return failure();
  std::vector<std::string> features;
  const llvm::MCSubtargetInfo *subtarget = (*machine)->getMCSubtargetInfo();
  auto add = [&](StringRef feature) {
    if (subtarget->checkFeatures(("+" + feature).str()))
      features.push_back(feature.str());
  };
  if ((*machine)->getTargetTriple().isX86()) {
#define DIST_CPU_FEATURE(feature) add(feature);
#include "dist/cpu-features.def"
  }
  llvm::sort(features);
  return features;
}
