//===- TensorParallelSearch.h - What tensor parallelism splits --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_TENSORPARALLELSEARCH_H
#define DIST_ANALYSIS_TENSORPARALLELSEARCH_H

#include "dist/Analysis/FactorClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <vector>

namespace dist {

/// Finds the classes of dimensions that the `tp` axis splits.
///
/// Candidates are the dimensions of parameters that the axis divides, never
/// the batch or a sequence. Every einsum with a parameter should have a split
/// factor, a table that feeds an embedding is split on its rows, and among the
/// assignments that do so the fewest wire bytes win (ring: 2(n−1)/n of a
/// partial result, (n−1)/n of what must be gathered); ties by the order in
/// which parameters name the dimensions. Column-then-row, head-parallel
/// attention and the vocabulary-parallel loss are what comes out.
///
/// A parameter that the user wants to lie otherwise costs what it takes to
/// bring it there and back; products of parameters that he wants whole need no
/// split factor.
///
/// A class that many ops share (the residual width) is decided first, the
/// groups of classes that remain connected each for themselves: the cost is
/// linear in the number of layers.
class TensorParallelSearch {
public:
  TensorParallelSearch(mlir::ModuleOp module, mlir::func::FuncOp entry,
                       const FactorClasses &classes, int64_t size,
                       llvm::function_ref<bool(unsigned)> mayBeSplit);

  /// The classes to split, in candidate order.
  llvm::SmallVector<unsigned> run();

private:
  /// What an op costs under an assignment, in the terms of its factors.
  struct OpCost {
    /// Candidate index of each factor, -1 if it is none.
    llvm::SmallVector<int> factors;
    /// Null: a parameter that the user wants split along `pin`.
    const ShardingRule *rule;
    int pin = -1;                    ///< a factor; -1: whole
    llvm::SmallVector<double> bytes; ///< operands, then results
    double calls;                    ///< how often it runs in a step
    bool needsSplit;                 ///< an einsum with a parameter
    int rows = -1;                   ///< of an embedding: the table's rows
  };
  /// Fewer undivided products first, then fewer bytes.
  struct Score {
    double undivided = 0, bytes = 0;
    bool operator<(const Score &other) const {
      return undivided != other.undivided ? undivided < other.undivided
                                          : bytes < other.bytes;
    }
    Score &operator+=(const Score &other) {
      undivided += other.undivided;
      bytes += other.bytes;
      return *this;
    }
  };

  void findParameters(mlir::ModuleOp module, mlir::func::FuncOp entry);
  void addPins(mlir::func::FuncOp entry);
  Score evaluatePin(const OpCost &pin, llvm::ArrayRef<bool> isSplit) const;
  void findCandidates(mlir::ModuleOp module, mlir::func::FuncOp entry,
                      llvm::function_ref<bool(unsigned)> mayBeSplit);
  void addOp(mlir::Operation *op, double calls);
  /// Ops of one key cost the same under every assignment.
  static std::vector<int64_t> getKey(const OpCost &op);
  Score evaluate(const OpCost &op, llvm::ArrayRef<bool> isSplit) const;
  double getTensorBytes(const OpCost &op, const ShardingRule::Dims &dims,
                        unsigned tensor, llvm::ArrayRef<bool> isSplit) const;
  llvm::SmallVector<unsigned> chooseHubs() const;
  llvm::SmallVector<llvm::SmallVector<unsigned>>
  findGroups(llvm::ArrayRef<unsigned> hubs) const;
  /// Decides `group` with the others as they are in `isSplit`.
  Score decide(llvm::ArrayRef<unsigned> group,
               llvm::SmallVectorImpl<bool> &isSplit) const;

  const FactorClasses &classes;
  int64_t size;
  llvm::DenseSet<mlir::Value> parameters;
  llvm::DenseSet<mlir::Value> wholeParameters; ///< by the user's wish
  llvm::SmallVector<unsigned> candidates;      ///< classes
  llvm::DenseMap<unsigned, int> indexOf;       ///< class to candidate
  llvm::SmallVector<OpCost> ops;               ///< one for all of a key
  std::map<std::vector<int64_t>, unsigned> opOfKey;
  llvm::SmallVector<llvm::SmallVector<unsigned>> opsOf; ///< by candidate
  llvm::SmallVector<unsigned> numOpsOf; ///< by candidate, with equal ones
};

} // namespace dist

#endif // DIST_ANALYSIS_TENSORPARALLELSEARCH_H
