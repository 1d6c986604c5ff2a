//===- RowKernelPlan.cpp - Rows, columns and sweeps of a kernel -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernelPlan.h"
#include "dist/Conversion/RowKernels.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace dist;
using llvm::SmallBitVector;

/// Below this much work per element a value is computed again.
static constexpr double kWorthKeeping = 10;

namespace {
/// Decides which loops are rows and what each op is to them.
class Planner {
public:
  explicit Planner(KernelGroup group)
      : plan(std::move(group)), loops(collapseLoops(plan.group)) {}

  LogicalResult chooseColumns();
  LogicalResult assignRoles();
  LogicalResult assignLevels();
  LogicalResult checkOutputs();
  LogicalResult checkInPlace();
  void keepCostlyValues();
  void markExact();

  RowKernelPlan plan;

private:
  SmallBitVector getLoops(linalg::GenericOp op, bool reducedOnly) const;
  bool isBroadcastBack(linalg::GenericOp reduction) const;
  void splitLoops(const SmallBitVector &columnSet);
  FailureOr<Role> inferRole(linalg::GenericOp op) const;
  double estimateConeWork(Value value) const;
  unsigned getLastUse(Value value) const;
  std::optional<unsigned> findRoom(Value value) const;

  SmallVector<KernelLoop> loops;
  SmallBitVector columnSet;
};
} // namespace

/// The loops of `op`, those of size 1 left out.
SmallBitVector Planner::getLoops(linalg::GenericOp op, bool reducedOnly) const {
  SmallBitVector set(loops.size());
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [position, dim] : llvm::enumerate(plan.group.getDims(op))) {
    if (reducedOnly && kinds[position] != utils::IteratorType::reduction)
      continue;
    for (auto [index, loop] : llvm::enumerate(loops))
      if (llvm::is_contained(loop.dims, dim))
        set.set(index);
  }
  return set;
}

/// Whether what `reduction` computes meets the loops again that it reduced.
bool Planner::isBroadcastBack(linalg::GenericOp reduction) const {
  SmallBitVector reduced = getLoops(reduction, /*reducedOnly=*/true);
  SmallVector<Operation *> worklist{reduction};
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      auto op = dyn_cast<linalg::GenericOp>(user);
      if (!op)
        continue;
      if (getLoops(op, /*reducedOnly=*/false).anyCommon(reduced))
        return true;
      worklist.push_back(op);
    }
  }
  return false;
}

void Planner::splitLoops(const SmallBitVector &set) {
  columnSet = set;
  for (auto [index, loop] : llvm::enumerate(loops))
    (set.test(index) ? plan.columns : plan.rows).push_back(loop);
}

/// Columns are what a row reduction reduces; a column reduction's are what it
/// keeps; where nothing says more, the innermost loop.
LogicalResult Planner::chooseColumns() {
  std::optional<SmallBitVector> forced, likely;
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    SmallBitVector reduced = getLoops(op, /*reducedOnly=*/true);
    if (reduced.none())
      continue;
    if (isBroadcastBack(op)) {
      if (forced && *forced != reduced)
        return op.emitOpError("reduces other dimensions than an op before it; "
                              "expected one kind of row");
      forced = reduced;
    } else if (!reduced.all()) {
      bool isRow = reduced.test(loops.size() - 1);
      if (isRow || !likely)
        likely = isRow ? reduced : ~reduced;
    }
  }
  SmallBitVector innermost(loops.size());
  if (loops.size() > 1)
    innermost.set(loops.size() - 1);
  splitLoops(forced ? *forced : likely.value_or(innermost));
  return success();
}

FailureOr<Role> Planner::inferRole(linalg::GenericOp op) const {
  SmallBitVector all = getLoops(op, /*reducedOnly=*/false);
  SmallBitVector reduced = getLoops(op, /*reducedOnly=*/true);
  SmallBitVector rowSet = ~columnSet;
  bool hasColumns = all.anyCommon(columnSet);
  if (reduced.none())
    return hasColumns ? Role::Elementwise : Role::RowScalar;
  if (reduced == columnSet)
    return Role::RowReduction;
  SmallBitVector kept = all;
  kept.reset(reduced);
  if (reduced == rowSet)
    if (!hasColumns || kept == columnSet)
      return hasColumns ? Role::ColumnReduction : Role::Total;
  if (reduced.all())
    return Role::Total;
  return op.emitOpError("reduces some of the rows or some of the columns of "
                        "its kernel; expected all");
}

LogicalResult Planner::assignRoles() {
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    FailureOr<Role> role = inferRole(op);
    if (failed(role))
      return failure();
    plan.roles[op] = *role;
    bool isReduction = *role != Role::Elementwise && *role != Role::RowScalar;
    if (isReduction && !llvm::all_equal(ArrayRef(op.getIndexingMapsArray())
                                            .drop_front(op.getNumDpsInputs())))
      return op.emitOpError("expected results of one shape from a reduction");
    if (*role == Role::ColumnReduction || *role == Role::Total)
      for (unsigned result = 0; result < op->getNumResults(); ++result)
        if (!lookupCombiner(op, result))
          return op.emitOpError("expected a sum, product, minimum or maximum "
                                "over rows");
  }
  return success();
}

LogicalResult Planner::assignLevels() {
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    unsigned level = 0;
    for (Value operand : op->getOperands()) {
      auto producer = operand.getDefiningOp<linalg::GenericOp>();
      if (!producer)
        continue;
      Role role = plan.getRole(producer);
      if (role == Role::ColumnReduction || role == Role::Total)
        return op.emitOpError("reads a sum over the rows of its own kernel");
      level = std::max(level, plan.levels.lookup(producer) +
                                  (role == Role::RowReduction ? 1 : 0));
    }
    plan.levels[op] = level;
    plan.numLevels = std::max(plan.numLevels, level + 1);
  }
  return success();
}

/// Every element of an output is written by one row only.
LogicalResult Planner::checkOutputs() {
  for (const KernelOutput &output : plan.group.getOutputs()) {
    auto op = output.tensor.getDefiningOp<linalg::GenericOp>();
    Role role = plan.getRole(op);
    if (role == Role::ColumnReduction || role == Role::Total)
      continue;
    SmallBitVector missing = role == Role::Elementwise
                                 ? SmallBitVector(loops.size(), true)
                                 : ~columnSet;
    missing.reset(getLoops(op, /*reducedOnly=*/false));
    if (missing.any())
      return output.op->emitOpError(
          "expected a result with all dimensions of its kernel");
  }
  return success();
}

/// A buffer may be read and written if every element is read before, at the
/// latest in the sweep that writes it, and by the same row and column.
LogicalResult Planner::checkInPlace() {
  const KernelGroup &group = plan.group;
  for (const KernelOutput &output : group.getOutputs()) {
    auto writer = output.tensor.getDefiningOp<linalg::GenericOp>();
    Role role = plan.getRole(writer);
    if (role != Role::Elementwise && role != Role::RowScalar)
      continue;
    Access written = group.getAccess(output);
    for (linalg::GenericOp reader : group.getGenerics()) {
      for (OpOperand &operand : reader->getOpOperands()) {
        if (lookupBuffer(operand.get()) != output.buffer)
          continue;
        Access read = group.getAccess(
            output.buffer,
            group.getGroupMap(reader, reader.getMatchingIndexingMap(&operand)));
        bool isLate = role == Role::Elementwise &&
                      plan.levels.lookup(reader) > plan.levels.lookup(writer);
        if (isLate || read.strides != written.strides ||
            read.offset != written.offset)
          return output.op->emitOpError(
              "overwrites a buffer that the kernel reads later");
      }
    }
  }
  return success();
}

/// Work per element of computing `value` from buffers and row scalars.
double Planner::estimateConeWork(Value value) const {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || plan.getRole(op) != Role::Elementwise || plan.kept.count(value))
    return 0;
  double work = estimateWork(op);
  for (Value operand : op->getOperands())
    work += estimateConeWork(operand);
  return work;
}

unsigned Planner::getLastUse(Value value) const {
  unsigned last = 0;
  for (Operation *user : value.getUsers())
    if (isa<linalg::GenericOp>(user))
      last = std::max(last, plan.levels.lookup(user));
  return last;
}

/// An output of the same element type whose row is free until it is written.
std::optional<unsigned> Planner::findRoom(Value value) const {
  ArrayRef<KernelOutput> outputs = plan.group.getOutputs();
  auto isRead = [&](Value buffer) {
    return llvm::any_of(buffer.getUsers(), [](Operation *user) {
      return user->getNumResults() == 1; // to_tensor
    });
  };
  for (auto [index, output] : llvm::enumerate(outputs))
    if (output.tensor == value)
      return index;
  for (auto [index, output] : llvm::enumerate(outputs)) {
    Operation *writer = output.tensor.getDefiningOp();
    bool isTaken = llvm::any_of(
        plan.kept, [&](const auto &entry) { return entry.second == index; });
    Type type = cast<MemRefType>(output.buffer.getType()).getElementType();
    if (!isTaken && !isRead(output.buffer) &&
        plan.getRole(writer) == Role::Elementwise &&
        plan.levels.lookup(writer) >= getLastUse(value) &&
        type == getElementTypeOrSelf(value.getType()))
      return index;
  }
  return std::nullopt;
}

void Planner::keepCostlyValues() {
  SmallBitVector everything(loops.size(), true);
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    if (plan.getRole(op) != Role::Elementwise ||
        getLoops(op, /*reducedOnly=*/false) != everything)
      continue;
    for (Value result : op->getResults())
      if (getLastUse(result) > plan.levels.lookup(op) &&
          estimateConeWork(result) >= kWorthKeeping)
        if (std::optional<unsigned> room = findRoom(result))
          plan.kept[result] = *room;
  }
}

/// True if `op` asks whether two numbers are equal, as the derivative of a
/// maximum does.
static bool asksEquality(linalg::GenericOp op) {
  using arith::CmpFPredicate;
  auto isEquality = [](arith::CmpFOp compare) {
    switch (compare.getPredicate()) {
    case CmpFPredicate::OEQ:
    case CmpFPredicate::UEQ:
    case CmpFPredicate::ONE:
    case CmpFPredicate::UNE:
      return true;
    default:
      return false;
    }
  };
  return llvm::any_of(op.getBody()->getOps<arith::CmpFOp>(), isEquality);
}

/// Reductions are computed once; what is elementwise may be computed again in
/// every sweep that reads it.
void Planner::markExact() {
  SmallVector<linalg::GenericOp> worklist;
  for (linalg::GenericOp op : plan.group.getGenerics())
    if (asksEquality(op))
      worklist.push_back(op);
  while (!worklist.empty()) {
    linalg::GenericOp op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      auto producer = operand.getDefiningOp<linalg::GenericOp>();
      if (!producer)
        continue;
      Role role = plan.getRole(producer);
      bool isRepeated = role == Role::Elementwise || role == Role::RowScalar;
      // A maximum is one of the values that it is compared with.
      bool isMaximum = role == Role::RowReduction &&
                       isa_and_present<arith::MaximumFOp, arith::MinimumFOp>(
                           lookupCombiner(producer, 0));
      if ((isRepeated || isMaximum) && plan.exact.insert(producer).second)
        worklist.push_back(producer);
    }
  }
}

static int64_t getProduct(ArrayRef<KernelLoop> loops) {
  int64_t product = 1;
  for (const KernelLoop &loop : loops)
    product *= loop.size;
  return product;
}

int64_t RowKernelPlan::getNumRows() const { return getProduct(rows); }

int64_t RowKernelPlan::getNumColumns() const { return getProduct(columns); }

bool RowKernelPlan::isInSweep(linalg::GenericOp op) const {
  switch (getRole(op)) {
  case Role::Elementwise:
  case Role::RowReduction:
  case Role::ColumnReduction:
    return true;
  case Role::RowScalar:
    return false;
  case Role::Total:
    return llvm::any_of(columns, [&](const KernelLoop &loop) {
      return llvm::is_contained(group.getDims(op), loop.getInnermost());
    });
  }
  llvm_unreachable("unknown role");
}

FailureOr<RowKernelPlan> RowKernelPlan::make(func::FuncOp func) {
  FailureOr<KernelGroup> group = KernelGroup::read(func);
  if (failed(group))
    return failure();
  Planner planner(std::move(*group));
  if (failed(planner.chooseColumns()) || failed(planner.assignRoles()) ||
      failed(planner.assignLevels()) || failed(planner.checkOutputs()) ||
      failed(planner.checkInPlace()))
    return failure();
  planner.keepCostlyValues();
  planner.markExact();
  planGrid(planner.plan);
  return std::move(planner.plan);
}

FailureOr<int64_t> dist::computeRowKernelWorkspace(func::FuncOp func) {
  FailureOr<RowKernelPlan> plan = RowKernelPlan::make(func);
  if (failed(plan))
    return failure();
  return plan->workspaceBytes;
}
