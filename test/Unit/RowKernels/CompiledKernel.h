//===- CompiledKernel.h - A kernel text as callable code --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TEST_UNIT_ROWKERNELS_COMPILEDKERNEL_H
#define DIST_TEST_UNIT_ROWKERNELS_COMPILEDKERNEL_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dist::test {

/// What stands for the runtime's rank: how many threads run the tasks.
struct Pool {
  int threads;
};

/// A kernel for given sizes and element type, compiled for the host and loaded.
class CompiledKernel {
public:
  /// Reads `Inputs/<name>.mlir.in`; null, with diagnostics printed, on failure.
  static std::unique_ptr<CompiledKernel> fromFile(llvm::StringRef name,
                                                  int64_t rows, int64_t columns,
                                                  llvm::StringRef type);
  /// `text` may use ROWS, COLS, ELT, NEG_INF and WORKSPACE.
  static std::unique_ptr<CompiledKernel> fromText(llvm::StringRef name,
                                                  std::string text,
                                                  int64_t rows, int64_t columns,
                                                  llvm::StringRef type);
  ~CompiledKernel();

  /// Calls the kernel with its buffers and, behind them, its workspace.
  template <typename... Buffers>
  void operator()(int threads, Buffers *...buffers) const {
    Pool pool{threads};
    if (workspaceBytes == 0)
      reinterpret_cast<void (*)(void *, Buffers *...)>(address)(&pool,
                                                                buffers...);
    else
      reinterpret_cast<void (*)(void *, Buffers *..., void *)>(address)(
          &pool, buffers..., makeWorkspace().data());
  }

  int64_t getWorkspaceBytes() const { return workspaceBytes; }

private:
  struct Code;
  CompiledKernel() = default;

  std::vector<double> makeWorkspace() const;

  std::unique_ptr<Code> code;
  void *address = nullptr;
  int64_t workspaceBytes = 0;
};

} // namespace dist::test

#endif // DIST_TEST_UNIT_ROWKERNELS_COMPILEDKERNEL_H
