//===- FactorClasses.h - Dimensions that are the same -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_ANALYSIS_FACTORCLASSES_H
#define DIST_ANALYSIS_FACTORCLASSES_H

#include "dist/Interfaces/ShardingRuleOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"

namespace dist {

/// Classes of tensor dimensions and of op factors that are one and the same
/// dimension of the program: joined by the ops' sharding rules and by calls,
/// over the whole module. Heads, ffn, vocabulary, batch are classes.
class FactorClasses {
public:
  /// A dimension of a value that a rule spells as several factors.
  struct Composite {
    mlir::Operation *op;
    unsigned node;                       ///< of the value's dimension
    llvm::SmallVector<unsigned> factors; ///< nodes of the factors
    unsigned tensor, dim;                ///< operands first, then results
  };

  /// Whether a dimension that is `factor` of `op`'s rule joins that factor.
  using Joins = llvm::function_ref<bool(mlir::Operation *op, unsigned factor)>;

  /// Joins the dimensions of all functions of `module`.
  FactorClasses(mlir::ModuleOp module, Joins joins);

  /// The node of dimension `dim` of `value`, for `classOf`.
  unsigned getNode(mlir::Value value, unsigned dim) const {
    return firstNode.lookup(value) + dim;
  }
  /// The node of a factor of the rule of `op`.
  unsigned getFactorNode(mlir::Operation *op, unsigned factor) const {
    return firstFactor.lookup(op) + factor;
  }

  unsigned getClass(unsigned node) const { return classes[node]; }
  unsigned getClass(mlir::Value value, unsigned dim) const {
    return classes[getNode(value, dim)];
  }
  unsigned getFactorClass(mlir::Operation *op, unsigned factor) const {
    return classes[getFactorNode(op, factor)];
  }
  unsigned getNumClasses() const { return classes.getNumClasses(); }

  /// The rule of `op`, or null if it has none.
  const ShardingRule *lookupRule(mlir::Operation *op) const;

  /// In program order.
  llvm::ArrayRef<Composite> getComposites() const { return composites; }
  /// The range of indices into `getComposites()` that belong to `op`.
  std::pair<unsigned, unsigned> getCompositesOf(mlir::Operation *op) const {
    return compositesOf.lookup(op);
  }

private:
  void addNodes(mlir::ModuleOp module);
  void addValue(mlir::Value value);
  void joinOp(mlir::Operation *op, Joins joins);
  void joinTensor(mlir::Operation *op, mlir::Value value,
                  const ShardingRule::Dims &dims, unsigned tensor, Joins joins);
  void joinCalls(mlir::ModuleOp module);
  void joinEntries(mlir::ModuleOp module);
  void joinValues(mlir::Value a, mlir::Value b);

  llvm::IntEqClasses classes;
  unsigned numNodes = 0;
  llvm::DenseMap<mlir::Value, unsigned> firstNode;
  llvm::DenseMap<mlir::Operation *, unsigned> firstFactor;
  /// Beside the map, whose buckets are many and mostly empty.
  std::vector<ShardingRule> rules;
  llvm::DenseMap<mlir::Operation *, unsigned> ruleOf;
  llvm::SmallVector<Composite> composites;
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> compositesOf;
};

/// Gives constants, positions and broadcasts of scalars one copy per use: a
/// shared one would join dimensions that only happen to have equal sizes.
void unshareBroadcasts(mlir::ModuleOp module);

} // namespace dist

#endif // DIST_ANALYSIS_FACTORCLASSES_H
