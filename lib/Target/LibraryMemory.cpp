//===- LibraryMemory.cpp - What the GEMM library allocates ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Target/LibraryMemory.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dist;

/// The descriptors of the products that `module` calls, a line each.
static std::string listProducts(ModuleOp module) {
  llvm::SetVector<Operation *> descriptors;
  module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() != "dist_gemm")
      return;
    if (auto address = call.getOperand(1).getDefiningOp<LLVM::AddressOfOp>())
      descriptors.insert(
          module.lookupSymbol<LLVM::GlobalOp>(address.getGlobalName()));
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Operation *op : descriptors) {
    auto words =
        cast<DenseElementsAttr>(cast<LLVM::GlobalOp>(op).getValueAttr());
    llvm::interleave(words.getValues<int64_t>(), os, " ");
    os << '\n';
  }
  return text;
}

static int64_t getNumThreads(ModuleOp module, int64_t threads) {
  if (threads > 0)
    return threads;
  int64_t ranks = 1;
  if (MeshOp mesh = lookupMesh(module))
    for (int64_t size : mesh.getShape())
      ranks *= size;
  return std::max<int64_t>(llvm::get_cpus() / ranks, 1);
}

/// The tool lies beside this one.
static std::string getToolPath() {
  static int anchor;
  SmallString<128> file(llvm::sys::fs::getMainExecutable(nullptr, &anchor));
  llvm::sys::path::remove_filename(file);
  llvm::sys::path::append(file, "dist-library-memory");
  return file.str().str();
}

FailureOr<int64_t> dist::measureLibraryMemory(ModuleOp module,
                                              int64_t threads) {
  auto fail = [&](const llvm::Twine &why) -> FailureOr<int64_t> {
    return module.emitError("cannot measure the memory of the GEMM library: ")
           << why;
  };
  SmallString<128> input, output;
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "dist-products", "txt", descriptor, input))
    return fail(error.message());
  llvm::FileRemover removeInput(input);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true)
      << listProducts(module);
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("dist-memory", "txt", output))
    return fail(error.message());
  llvm::FileRemover removeOutput(output);
  std::string tool = getToolPath(), message;
  std::string count = std::to_string(getNumThreads(module, threads));
  int status = llvm::sys::ExecuteAndWait(
      tool, {tool, count}, std::nullopt, {input.str(), output.str(), {}},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  auto text = llvm::MemoryBuffer::getFile(output);
  int64_t bytes;
  if (status != 0 || !text ||
      (*text)->getBuffer().trim().getAsInteger(10, bytes))
    return fail(message.empty() ? tool + " failed" : message);
  return bytes;
}
