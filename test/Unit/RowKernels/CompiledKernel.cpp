//===- CompiledKernel.cpp - A kernel text as callable code ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "dist/Conversion/Passes.h"
#include "dist/Conversion/RowKernels.h"
#include "dist/Target/ObjectCode.h"
#include "dist/runtime.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <limits>
#include <thread>

using namespace dist::test;

/// Cuts as the runtime does; thread t takes every threads-th task from t on,
/// the last one first, so that the order differs between numbers of threads.
static void parallelFor(dist_rank *rank, dist_task task, void *args,
                        int64_t rows, int64_t grain) {
  int threads = reinterpret_cast<Pool *>(rank)->threads;
  int64_t tasks = (rows + grain - 1) / grain;
  auto work = [=](int64_t thread) {
    for (int64_t i = tasks - 1 - thread; i >= 0; i -= threads)
      task(args, i * grain, std::min((i + 1) * grain, rows));
  };
  if (threads == 1)
    return task(args, 0, rows);
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread)
    pool.emplace_back(work, thread);
  for (std::thread &thread : pool)
    thread.join();
}

struct CompiledKernel::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CompiledKernel::~CompiledKernel() = default;

std::vector<double> CompiledKernel::makeWorkspace() const {
  return std::vector<double>((workspaceBytes + 7) / 8,
                             std::numeric_limits<double>::quiet_NaN());
}

static std::string replaceAll(std::string text, llvm::StringRef from,
                              llvm::StringRef to) {
  for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to.str());
  return text;
}

static mlir::OwningOpRef<mlir::ModuleOp>
parse(mlir::MLIRContext &context, const std::string &text, int64_t workspace) {
  return mlir::parseSourceString<mlir::ModuleOp>(
      replaceAll(text, "WORKSPACE", std::to_string(workspace)), &context);
}

template <typename T>
static T orNull(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  llvm::errs() << llvm::toString(value.takeError()) << "\n";
  return T();
}

static std::unique_ptr<llvm::orc::LLJIT> link(llvm::StringRef object) {
  auto jit = orNull(llvm::orc::LLJITBuilder().create());
  if (!jit)
    return nullptr;
  llvm::orc::JITDylib &library = jit->getMainJITDylib();
  llvm::orc::SymbolMap symbols;
  symbols[jit->mangleAndIntern("dist_parallel_for")] = {
      llvm::orc::ExecutorAddr::fromPtr(&parallelFor),
      llvm::JITSymbolFlags::Exported};
  llvm::cantFail(library.define(llvm::orc::absoluteSymbols(symbols)));
  library.addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->getDataLayout().getGlobalPrefix())));
  llvm::cantFail(
      jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)));
  return jit;
}

std::unique_ptr<CompiledKernel>
CompiledKernel::fromText(llvm::StringRef name, std::string text, int64_t rows,
                         int64_t columns, llvm::StringRef type) {
  text = replaceAll(text, "ROWS", std::to_string(rows));
  text = replaceAll(text, "COLS", std::to_string(columns));
  text = replaceAll(text, "ELT", type);
  text = replaceAll(text, "NEG_INF",
                    type == "f32" ? "0xFF800000" : "0xFFF0000000000000");
  mlir::DialectRegistry registry;
  registry.insert<dist::DistDialect>();
  registerKernelDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  registerObjectTranslations(context);
  auto module = parse(context, text, 0);
  if (!module)
    return nullptr;
  auto bytes =
      computeRowKernelWorkspace(module->lookupSymbol<mlir::func::FuncOp>(name));
  if (mlir::failed(bytes) || !(module = parse(context, text, *bytes)))
    return nullptr;
  mlir::PassManager passes(&context);
  buildKernelsToLLVMPipeline(passes);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  if (mlir::failed(passes.run(*module)) ||
      mlir::failed(emitObject(*module, {}, stream)))
    return nullptr;

  std::unique_ptr<CompiledKernel> kernel(new CompiledKernel());
  kernel->workspaceBytes = *bytes;
  kernel->code = std::make_unique<Code>();
  kernel->code->jit = link(llvm::StringRef(object.data(), object.size()));
  if (!kernel->code->jit)
    return nullptr;
  auto address = orNull(kernel->code->jit->lookup(name));
  kernel->address = address.toPtr<void *>();
  return kernel->address ? std::move(kernel) : nullptr;
}

std::unique_ptr<CompiledKernel> CompiledKernel::fromFile(llvm::StringRef name,
                                                         int64_t rows,
                                                         int64_t columns,
                                                         llvm::StringRef type) {
  auto file = llvm::MemoryBuffer::getFile(llvm::Twine(DIST_KERNEL_INPUTS) +
                                          "/" + name + ".mlir.in");
  if (!file)
    return nullptr;
  return fromText(name, (*file)->getBuffer().str(), rows, columns, type);
}
