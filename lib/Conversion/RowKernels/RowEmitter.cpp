//===- RowEmitter.cpp - Scalar loops of one row kernel --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is computed level by level: the row scalars of a level, then one sweep
// over the columns that computes everything else of that level at once. Within
// a sweep all loads come before all stores, so buffers may be updated in place.
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dist;

/// LLVM interleaves two iterations of a loop with an exponential; four are
/// faster by a tenth or more.
static constexpr int kInterleave = 4;
static constexpr double kCostlyWork = 10;

RowEmitter::RowEmitter(const RowKernelPlan &plan, ImplicitLocOpBuilder &b,
                       IRMapping arguments, Value workspace)
    : plan(plan), b(b), arguments(std::move(arguments)), workspace(workspace),
      indices(plan.group.getSizes().size()) {}

void RowEmitter::emitRange(Value lo, Value hi) {
  if (plan.isAcrossColumns)
    return emitAcrossColumns(lo, hi);
  if (plan.partials.empty()) {
    emitRows(lo, hi, {});
    return;
  }
  scf::ForOp::create(b, lo, hi, index(1), {},
                     [&](OpBuilder &, Location, Value iv, ValueRange) {
                       emitBlock(iv);
                       scf::YieldOp::create(b);
                     });
}

static Value createNeutral(ImplicitLocOpBuilder &b, const Partial &partial) {
  Operation *combiner = lookupCombiner(partial.op, partial.result);
  return arith::ConstantOp::create(b, *arith::getNeutralElement(combiner));
}

void RowEmitter::emitBlock(Value blockIndex) {
  block = blockIndex;
  SmallVector<Value> totals;
  for (const Partial &partial : plan.partials) {
    Value neutral = createNeutral(b, partial);
    if (plan.getRole(partial.op) == Role::Total) {
      totals.push_back(neutral);
      continue;
    }
    emitNest(plan.columns, {}, /*isCostly=*/false, [&](ValueRange) {
      memref::StoreOp::create(b, neutral, viewPartial(partial),
                              addressPartial(partial, block));
      return SmallVector<Value>();
    });
  }
  Value lo = arith::MulIOp::create(b, block, index(plan.rowsPerBlock));
  Value end = arith::AddIOp::create(b, lo, index(plan.rowsPerBlock));
  Value hi = arith::MinSIOp::create(b, end, index(plan.getNumRows()));
  totals = emitRows(lo, hi, totals);
  for (const Partial &partial : plan.partials)
    if (plan.getRole(partial.op) == Role::Total) {
      memref::StoreOp::create(b, totals.front(), viewPartial(partial),
                              addressPartial(partial, block));
      totals.erase(totals.begin());
    }
}

void RowEmitter::emitAcrossColumns(Value lo, Value hi) {
  columnLo = lo;
  columnHi = hi;
  for (const KernelOutput &output : plan.group.getOutputs()) {
    auto op = output.tensor.getDefiningOp<linalg::GenericOp>();
    if (plan.getRole(op) != Role::ColumnReduction)
      continue;
    cache.clear();
    emitNest(plan.columns, {}, /*isCostly=*/false, [&](ValueRange) {
      unsigned result = cast<OpResult>(output.tensor).getResultNumber();
      store(fetchInit(op, result), plan.group.getAccess(output));
      return SmallVector<Value>();
    });
  }
  emitRows(index(0), index(plan.getNumRows()), {});
}

static void hintInterleave(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto count = IntegerAttr::get(IntegerType::get(context, 32), kInterleave);
  auto interleave = LLVM::LoopInterleaveAttr::get(context, count);
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, interleave, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}));
}

SmallVector<Value> RowEmitter::emitRows(Value lo, Value hi, ValueRange totals) {
  auto loop = scf::ForOp::create(
      b, lo, hi, index(1), totals,
      [&](OpBuilder &, Location, Value iv, ValueRange accumulators) {
        scf::YieldOp::create(b, emitRow(iv, accumulators));
      });
  bool isCostly = llvm::any_of(plan.group.getGenerics(), [](auto op) {
    return estimateWork(op) >= kCostlyWork;
  });
  if (plan.columns.empty() && isCostly)
    hintInterleave(loop);
  return SmallVector<Value>(loop.getResults());
}

/// Splits a position into the indices of `loops`, the last one fastest.
static SmallVector<Value> delinearize(ImplicitLocOpBuilder &b, Value position,
                                      ArrayRef<KernelLoop> loops) {
  SmallVector<Value> values(loops.size());
  for (unsigned i = loops.size(); i-- > 0;) {
    if (i == 0) {
      values[i] = position;
      break;
    }
    Value size = arith::ConstantIndexOp::create(b, loops[i].size);
    values[i] = arith::RemUIOp::create(b, position, size);
    position = arith::DivUIOp::create(b, position, size);
  }
  return values;
}

/// The results that are carried from row to row.
static SmallVector<OpResult> getTotals(const RowKernelPlan &plan) {
  SmallVector<OpResult> totals;
  for (const Partial &partial : plan.partials)
    if (plan.getRole(partial.op) == Role::Total)
      totals.push_back(partial.op->getResult(partial.result));
  return totals;
}

SmallVector<Value> RowEmitter::emitRow(Value row, ValueRange totals) {
  scalars.clear();
  cache.clear();
  inRow.clear();
  SmallVector<Value> values = delinearize(b, row, plan.rows);
  for (auto [loop, value] : llvm::zip_equal(plan.rows, values))
    indices[loop.getInnermost()] = value;
  SmallVector<OpResult> carried = getTotals(plan);
  for (auto [result, value] : llvm::zip_equal(carried, totals))
    running[result] = value;

  for (unsigned level = 0; level < plan.numLevels; ++level) {
    emitRowOps(level);
    emitSweep(level);
    cache.clear();
  }
  storeOutputs(0, /*inSweep=*/false);
  return llvm::map_to_vector(
      carried, [&](Value result) { return running.lookup(result); });
}

/// What a row computes once, before the sweep of the same level.
void RowEmitter::emitRowOps(unsigned level) {
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    if (plan.levels.lookup(op) != level || plan.isInSweep(op))
      continue;
    bool isTotal = plan.getRole(op) == Role::Total;
    SmallVector<Value> accumulators;
    for (Value result : op->getResults())
      if (isTotal)
        accumulators.push_back(running.lookup(result));
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), evaluate(op, accumulators)))
      (isTotal ? running : scalars)[result] = value;
  }
}

/// The reductions of the sweep of `level` that stay in registers.
SmallVector<linalg::GenericOp> RowEmitter::getReductions(unsigned level) const {
  SmallVector<linalg::GenericOp> reductions;
  for (linalg::GenericOp op : plan.group.getGenerics())
    if (plan.levels.lookup(op) == level && plan.isInSweep(op) &&
        (plan.getRole(op) == Role::RowReduction ||
         plan.getRole(op) == Role::Total))
      reductions.push_back(op);
  return reductions;
}

void RowEmitter::emitSweep(unsigned level) {
  bool isCostly = false, isEmpty = true;
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    if (plan.levels.lookup(op) != level || !plan.isInSweep(op))
      continue;
    isEmpty = false;
    isCostly |= estimateWork(op) >= kCostlyWork;
  }
  if (isEmpty)
    return;

  SmallVector<Value> inits, results;
  for (linalg::GenericOp op : getReductions(level))
    for (OpResult result : op->getResults())
      inits.push_back(plan.getRole(op) == Role::Total
                          ? running.lookup(result)
                          : fetchInit(op, result.getResultNumber()));
  cache.clear();
  results = emitNest(plan.columns, inits, isCostly, [&](ValueRange accs) {
    return emitSweepBody(level, accs);
  });
  ArrayRef<Value> rest = results;
  for (linalg::GenericOp op : getReductions(level))
    for (Value result : op->getResults()) {
      bool isTotal = plan.getRole(op) == Role::Total;
      (isTotal ? running : scalars)[result] = rest.consume_front();
    }
  for (auto [value, output] : plan.kept)
    if (plan.levels.lookup(value.getDefiningOp()) == level)
      inRow[value] = output;
}

SmallVector<Value> RowEmitter::emitSweepBody(unsigned level,
                                             ValueRange accumulators) {
  SmallVector<Value> next;
  for (linalg::GenericOp op : getReductions(level))
    llvm::append_range(
        next,
        evaluate(op, accumulators.slice(next.size(), op->getNumResults())));
  for (linalg::GenericOp op : plan.group.getGenerics())
    if (plan.levels.lookup(op) == level &&
        plan.getRole(op) == Role::ColumnReduction)
      emitColumnReduction(op);
  storeOutputs(level, /*inSweep=*/true);
  return next;
}

SmallVector<Value> RowEmitter::emitNest(ArrayRef<KernelLoop> loops,
                                        ValueRange inits, bool isCostly,
                                        SweepBody body) {
  if (loops.empty())
    return body(inits);
  bool isPart = columnLo && loops.data() == plan.columns.data();
  auto loop = scf::ForOp::create(
      b, isPart ? columnLo : index(0),
      isPart ? columnHi : index(loops.front().size), index(1), inits,
      [&](OpBuilder &, Location, Value iv, ValueRange accumulators) {
        indices[loops.front().getInnermost()] = iv;
        scf::YieldOp::create(
            b, emitNest(loops.drop_front(), accumulators, isCostly, body));
      });
  if (isCostly && loops.size() == 1)
    hintInterleave(loop);
  return SmallVector<Value>(loop.getResults());
}

void RowEmitter::emitColumnReduction(linalg::GenericOp op) {
  SmallVector<std::pair<Value, Value>> slots; // memref and position
  for (Value result : op->getResults())
    for (const KernelOutput &output : plan.group.getOutputs())
      if (plan.isAcrossColumns && output.tensor == result)
        slots.push_back(
            {flatten(output.buffer), address(plan.group.getAccess(output))});
  for (const Partial &partial : plan.partials)
    if (partial.op == op)
      slots.push_back({viewPartial(partial), addressPartial(partial, block)});
  auto accumulators = llvm::map_to_vector(slots, [&](auto slot) -> Value {
    return memref::LoadOp::create(b, slot.first, slot.second);
  });
  for (auto [value, slot] : llvm::zip_equal(evaluate(op, accumulators), slots))
    memref::StoreOp::create(b, value, slot.first, slot.second);
}

void RowEmitter::storeOutputs(unsigned level, bool inSweep) {
  SmallVector<std::pair<Value, Access>> stores;
  for (auto [number, output] : llvm::enumerate(plan.group.getOutputs())) {
    Value tensor = output.tensor;
    Role role = plan.getRole(tensor.getDefiningOp());
    bool isRowResult = role == Role::RowScalar || role == Role::RowReduction;
    Access access = plan.group.getAccess(output);
    if (!inSweep && isRowResult)
      stores.push_back({scalars.lookup(tensor), access});
    if (!inSweep)
      continue;
    if (role == Role::Elementwise &&
        plan.levels.lookup(tensor.getDefiningOp()) == level)
      stores.push_back({fetch(tensor, {}), access});
    for (auto [value, room] : plan.kept)
      if (room == number && value != tensor &&
          plan.levels.lookup(value.getDefiningOp()) == level)
        stores.push_back({fetch(value, {}), access});
  }
  for (auto &[value, access] : stores)
    store(value, access);
}

void RowEmitter::emitFinish() {
  for (const Partial &partial : plan.partials)
    emitFinish(partial);
}

void RowEmitter::emitFinish(const Partial &partial) {
  Operation *combiner = lookupCombiner(partial.op, partial.result);
  Value tensor = partial.op->getResult(partial.result);
  ArrayRef<KernelLoop> loops =
      partial.elements == 1 && plan.getRole(partial.op) == Role::Total
          ? ArrayRef<KernelLoop>()
          : plan.columns;
  auto emitEach = [&](llvm::function_ref<void(const Access &)> body) {
    for (const KernelOutput &output : plan.group.getOutputs())
      if (output.tensor == tensor)
        emitNest(loops, {}, /*isCostly=*/false, [&](ValueRange) {
          cache.clear();
          body(plan.group.getAccess(output));
          return SmallVector<Value>();
        });
  };
  emitEach([&](const Access &access) {
    store(fetchInit(partial.op, partial.result), access);
  });
  auto addBlock = [&](OpBuilder &, Location, Value iv, ValueRange) {
    emitEach([&](const Access &access) {
      IRMapping map;
      map.map(combiner->getOperand(0), load(access));
      map.map(combiner->getOperand(1),
              memref::LoadOp::create(b, viewPartial(partial),
                                     addressPartial(partial, iv)));
      store(b.clone(*combiner, map)->getResult(0), access);
    });
    scf::YieldOp::create(b);
  };
  scf::ForOp::create(b, index(0), index(plan.blocks), index(1), {}, addBlock);
}
