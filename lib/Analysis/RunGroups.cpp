//===- RunGroups.cpp - What of a run of ops belongs together --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/RunGroups.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include <set>

using namespace mlir;
using namespace dist;

static bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

/// True if `op` computes scalars from scalars.
static bool isScalarOp(Operation *op) {
  return llvm::all_of(op->getOperands(), isScalar) &&
         llvm::all_of(op->getResults(), isScalar);
}

namespace {
/// The values that pass between the ops of a run.
class RunPartition {
public:
  explicit RunPartition(ArrayRef<Operation *> run);

  SmallVector<SmallVector<Operation *>> getGroups();

private:
  struct Use {
    unsigned producer, user;
    bool isScalar;
    /// A tensor op waits for a scalar: it runs a level later.
    bool isStep;
  };
  void setLevels();
  void joinGroups();

  ArrayRef<Operation *> run;
  SmallVector<Use> uses; ///< by user, in program order
  SmallVector<unsigned> levels;
  llvm::IntEqClasses groupOf;
};
} // namespace

RunPartition::RunPartition(ArrayRef<Operation *> run)
    : run(run), levels(run.size(), 0), groupOf(run.size()) {
  llvm::DenseMap<Operation *, unsigned> positionOf;
  for (auto [user, op] : llvm::enumerate(run)) {
    for (Value operand : op->getOperands()) {
      auto it = positionOf.find(operand.getDefiningOp());
      if (it != positionOf.end())
        uses.push_back({it->second, unsigned(user), isScalar(operand),
                        isScalar(operand) && !isScalarOp(op)});
    }
    positionOf[op] = user;
  }
}

/// As soon as the scalars allow; what has users in the run, as late as they do.
void RunPartition::setLevels() {
  for (const Use &use : uses)
    levels[use.user] =
        std::max(levels[use.user], levels[use.producer] + use.isStep);
  SmallVector<std::optional<unsigned>> latest(run.size());
  for (const Use &use : llvm::reverse(uses)) {
    unsigned user = latest[use.user].value_or(levels[use.user]);
    unsigned level = user - use.isStep;
    std::optional<unsigned> &mine = latest[use.producer];
    mine = mine ? std::min(*mine, level) : level;
  }
  for (auto [level, late] : llvm::zip_equal(levels, latest))
    level = late.value_or(level);
}

void RunPartition::joinGroups() {
  for (const Use &use : uses) {
    bool areScalar = isScalarOp(run[use.producer]) && isScalarOp(run[use.user]);
    if (levels[use.producer] == levels[use.user] &&
        (!use.isScalar || areScalar))
      groupOf.join(use.producer, use.user);
  }
  groupOf.compress();
}

SmallVector<SmallVector<Operation *>> RunPartition::getGroups() {
  setLevels();
  joinGroups();
  unsigned count = groupOf.getNumClasses();
  SmallVector<SmallVector<Operation *>> groups(count);
  for (auto [position, op] : llvm::enumerate(run))
    groups[groupOf[position]].push_back(op);
  llvm::DenseSet<std::pair<unsigned, unsigned>> edges;
  SmallVector<SmallVector<unsigned>> users(count);
  SmallVector<unsigned> waitsFor(count, 0);
  for (const Use &use : uses) {
    unsigned from = groupOf[use.producer], to = groupOf[use.user];
    if (from == to || !edges.insert({from, to}).second)
      continue;
    users[from].push_back(to);
    ++waitsFor[to];
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
  // Scalars and levels cannot wait for each other in a circle; if they did, the
  // run would be one group.
  if (ordered.size() != count)
    return {SmallVector<Operation *>(run)};
  return ordered;
}

SmallVector<SmallVector<Operation *>>
dist::partitionRun(ArrayRef<Operation *> run) {
  return RunPartition(run).getGroups();
}
