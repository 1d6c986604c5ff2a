//===- MemoryPlan.h - Where every tensor lies in the arena ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank owns one arena. Its front holds what must outlive a step or be found
// by the runtime: parameters, states, inputs, scalars and results, one slot
// each. Behind it lie the temporaries of the calls of `@step` and of `@loss`,
// which are never at work at the same time and so share their space. All sizes
// and offsets are in bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TRANSFORMS_MEMORYPLAN_H
#define DIST_TRANSFORMS_MEMORYPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace dist {

/// The step of a compiled program, and its forward part for evaluation.
inline constexpr llvm::StringLiteral kStepEntryName = "step",
                                     kEvalEntryName = "loss";
/// Offsets of buffers are multiples of this.
inline constexpr int64_t kBufferAlignment = 64;

/// Bytes per rank at the moment when most is alive, by owner. `buffers` are
/// inputs, scalars, results, workspaces and what alignment and the order of the
/// lifetimes leave unused, so the parts add up to `peak`, which is the arena.
struct MemoryReport {
  int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0,
          buffers = 0, communicator = 0, peak = 0;
};

/// A stretch of the arena that one or more values use, one after the other.
struct PlannedBuffer {
  int64_t bytes = 0, offset = 0;
  /// The calls between which it is in use, both included; those of a slot are
  /// all. The copies at the end count as one more call.
  int64_t firstCall = 0, lastCall = 0;
  bool isSlot = false, isGradient = false, isWorkspace = false;
};

/// `bytes` from one offset to another.
struct PlannedCopy {
  int64_t bytes, from, to;
};

/// A call of a segment on the offsets of its arguments, results and workspace.
struct PlannedCall {
  mlir::func::CallOp call;
  llvm::SmallVector<int64_t> offsets;
};

/// A gradient result that is whole after `call` (-1: before the first).
struct PlannedHook {
  unsigned result;
  int64_t call, offset;
};

struct EntryPlan {
  mlir::func::FuncOp entry;
  llvm::SmallVector<int64_t> arguments;  ///< offsets of their slots
  llvm::SmallVector<int64_t> results;    ///< where they are at the end
  llvm::SmallVector<PlannedCall> calls;  ///< in order
  llvm::SmallVector<PlannedHook> hooks;  ///< by call
  llvm::SmallVector<PlannedCopy> copies; ///< after the last call, in order
  llvm::SmallVector<PlannedBuffer> buffers;
};

struct MemoryPlan {
  EntryPlan step;
  std::optional<EntryPlan> eval;
  int64_t arenaBytes = 0;
  MemoryReport report;
};

/// Plans the arena of `module`, which is in the phase *runtime*. An updated
/// parameter or state is computed in its own slot where the segment allows it
/// and nobody reads the old value later, else copied there at the end. Equal
/// modules get equal plans. Fails with a diagnostic where the module is not of
/// that phase.
mlir::FailureOr<MemoryPlan> planMemory(mlir::ModuleOp module);

} // namespace dist

#endif // DIST_TRANSFORMS_MEMORYPLAN_H
