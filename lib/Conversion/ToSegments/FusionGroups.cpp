//===- FusionGroups.cpp - What may become one kernel ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionGroups.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include <set>

using namespace mlir;
using namespace dist;

static bool isScalar(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() == 0;
}

namespace {
/// The groups of a run and the scalars that pass between them.
class RunPartition {
public:
  explicit RunPartition(ArrayRef<Operation *> run);

  /// The groups in an order that respects the scalars; empty if there is none.
  SmallVector<SmallVector<Operation *>> getOrdered() const;

private:
  template <typename Visitor>
  void visitUses(Visitor visit);

  ArrayRef<Operation *> run;
  llvm::DenseMap<Operation *, unsigned> positionOf;
  llvm::IntEqClasses groupOf;
  llvm::DenseSet<std::pair<unsigned, unsigned>> edges; ///< producer, user
};
} // namespace

/// Calls `visit(producer, user, value)` for every value that passes inside.
template <typename Visitor>
void RunPartition::visitUses(Visitor visit) {
  for (auto [user, op] : llvm::enumerate(run))
    for (Value operand : op->getOperands())
      if (auto it = positionOf.find(operand.getDefiningOp());
          it != positionOf.end())
        visit(it->second, unsigned(user), operand);
}

RunPartition::RunPartition(ArrayRef<Operation *> run)
    : run(run), groupOf(run.size()) {
  for (auto [position, op] : llvm::enumerate(run))
    positionOf[op] = position;
  visitUses([&](unsigned producer, unsigned user, Value value) {
    if (!isScalar(value))
      groupOf.join(producer, user);
  });
  groupOf.compress();
  visitUses([&](unsigned producer, unsigned user, Value value) {
    if (isScalar(value) && groupOf[producer] != groupOf[user])
      edges.insert({groupOf[producer], groupOf[user]});
  });
}

SmallVector<SmallVector<Operation *>> RunPartition::getOrdered() const {
  unsigned count = groupOf.getNumClasses();
  SmallVector<SmallVector<Operation *>> groups(count);
  for (auto [position, op] : llvm::enumerate(run))
    groups[groupOf[position]].push_back(op);
  SmallVector<unsigned> waitsFor(count, 0);
  SmallVector<SmallVector<unsigned>> users(count);
  for (auto [producer, user] : edges) {
    ++waitsFor[user];
    users[producer].push_back(user);
  }
  // The one that begins first among those that can run.
  std::set<unsigned> ready;
  for (unsigned group = 0; group < count; ++group)
    if (waitsFor[group] == 0)
      ready.insert(group);
  SmallVector<SmallVector<Operation *>> ordered;
  while (!ready.empty()) {
    unsigned group = *ready.begin();
    ready.erase(ready.begin());
    ordered.push_back(groups[group]);
    for (unsigned user : users[group])
      if (--waitsFor[user] == 0)
        ready.insert(user);
  }
  if (ordered.size() != count)
    ordered.clear();
  return ordered;
}

SmallVector<SmallVector<Operation *>>
dist::partitionRun(ArrayRef<Operation *> run) {
  SmallVector<SmallVector<Operation *>> groups = RunPartition(run).getOrdered();
  if (groups.empty())
    groups.emplace_back(run);
  return groups;
}
