//===- EntryPlanner.h - The buffers of one entry ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_TRANSFORMS_MEMORY_ENTRYPLANNER_H
#define DIST_LIB_TRANSFORMS_MEMORY_ENTRYPLANNER_H

#include "Segments.h"
#include "dist/Transforms/MemoryPlan.h"

namespace dist {

/// A place of its own, or none, for an argument or result of an entry.
using Slot = std::optional<int64_t>;

/// Finds which values share a buffer and how long each is in use.
class EntryPlanner {
public:
  EntryPlanner(mlir::func::FuncOp entry, const Segments &segments)
      : entry(entry), segments(segments) {
    plan.entry = entry;
  }

  /// `arguments` are where the arguments are before the first call, `results`
  /// where results must be after the last one. Offsets of the plan that are no
  /// slots become known by `resolve`.
  mlir::LogicalResult run(llvm::ArrayRef<int64_t> arguments,
                          llvm::ArrayRef<Slot> results);

  llvm::MutableArrayRef<PlannedBuffer> getBuffers() { return plan.buffers; }

  /// The plan, once its buffers have offsets.
  EntryPlan resolve();

private:
  mlir::LogicalResult collectCalls();
  void computeLastUses();
  void chooseHomes();
  void setHome(mlir::OpResult value, int64_t slot);
  mlir::LogicalResult planCall(int64_t index);
  mlir::LogicalResult planResult(int64_t index, mlir::OpResult result);
  mlir::LogicalResult checkReplaced(int64_t index, mlir::OpResult result,
                                    int64_t argument);
  void planEnd();
  void planHooks();

  bool isInPlaceOf(mlir::OpResult fresh, int64_t slot) const;
  bool mayReplace(mlir::OpResult fresh, int64_t slot) const;
  bool isReadOnceBy(mlir::Value value, mlir::func::CallOp call) const;
  int64_t getLastUse(mlir::Value value) const { return lastUse.lookup(value); }
  unsigned addBuffer(mlir::Value value, PlannedBuffer buffer);
  unsigned addSlot(mlir::Value value, int64_t offset);
  void addCopy(int64_t bytes, unsigned from, unsigned to);

  mlir::func::FuncOp entry;
  const Segments &segments;
  EntryPlan plan;
  llvm::SmallVector<mlir::func::FuncOp> bodies;          ///< by call
  llvm::SmallVector<llvm::SmallVector<unsigned>> places; ///< buffers, by call
  llvm::DenseMap<mlir::Value, unsigned> bufferOf;
  llvm::DenseMap<mlir::Operation *, int64_t> indexOf; ///< of a call
  llvm::DenseMap<mlir::Value, int64_t> lastUse; ///< by call; the end is a call
  llvm::SmallVector<Slot> resultSlots;
  llvm::DenseMap<mlir::Value, int64_t> homes; ///< slots that calls write to
  llvm::DenseMap<int64_t, mlir::Value> argumentAt; ///< by slot
  struct Copy {
    int64_t bytes;
    unsigned from, to;
  };
  llvm::SmallVector<Copy> staged, copies;
  llvm::SmallVector<unsigned> resultBuffers;
};

} // namespace dist

#endif // DIST_LIB_TRANSFORMS_MEMORY_ENTRYPLANNER_H
