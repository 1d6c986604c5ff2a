//===- PlanGrid.cpp - How finely the rows of a kernel are cut -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace dist;

/// Nanoseconds of a simple operation on one element, vectorised, and of a byte
/// that goes to or comes from the outer caches.
static constexpr double kNanosPerOperation = 0.04, kNanosPerByte = 0.08;

/// What a task should take at least: a few times what handing it out costs.
static constexpr double kTaskNanos = 20e3;

/// Column reductions add up at most this many partial rows.
static constexpr int64_t kMaxBlocks = 16;

/// Column reductions with this many columns, or so few rows, need no partials:
/// there are columns enough for all threads.
static constexpr int64_t kManyColumns = 4096, kFewRows = 32;

/// Of a row, a task across columns takes at least this many elements.
static constexpr int64_t kColumnGrain = 256;

/// Tasks on single elements start at full cache lines.
static constexpr int64_t kElementGrain = 64;

static double estimateWork(Operation &op) {
  if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp, arith::MulUIExtendedOp,
          arith::MulSIExtendedOp>(op))
    return 4;
  if (isa<math::AbsFOp, math::FmaOp, math::FloorOp, math::CeilOp>(op))
    return 1;
  if (!isa<math::MathDialect>(op.getDialect()))
    return 1;
  // Without a vector form, a call of the C library per element.
  return op.getResult(0).getType().isF64() ? 200 : 10;
}

double dist::estimateWork(linalg::GenericOp op) {
  double work = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    work += ::estimateWork(inner);
  return work;
}

static int64_t getBytes(Value buffer) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  return std::max(1u, type.isIndex() ? 8 : type.getIntOrFloatBitWidth() / 8);
}

static double estimateRowNanos(const RowKernelPlan &plan) {
  double columns = plan.getNumColumns(), nanos = 0;
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    double elements = plan.isInSweep(op) ? columns : 1;
    nanos += elements * estimateWork(op) * kNanosPerOperation;
    for (Value operand : op->getOperands())
      if (Value buffer = lookupBuffer(operand))
        nanos += elements * getBytes(buffer) * kNanosPerByte;
  }
  for (const KernelOutput &output : plan.group.getOutputs()) {
    auto op = output.tensor.getDefiningOp<linalg::GenericOp>();
    if (plan.getRole(op) == Role::Elementwise)
      nanos += columns * getBytes(output.buffer) * kNanosPerByte;
  }
  return std::max(nanos, 1e-3);
}

static void planPartials(RowKernelPlan &plan) {
  int64_t bytes = 0;
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    Role role = plan.getRole(op);
    if (role != Role::ColumnReduction && role != Role::Total)
      continue;
    for (Value result : op->getResults()) {
      Type type = getElementTypeOrSelf(result.getType());
      int64_t elements = role == Role::Total ? 1 : plan.getNumColumns();
      plan.partials.push_back(
          {op, cast<OpResult>(result).getResultNumber(), elements, bytes});
      int64_t width = std::max(1u, type.getIntOrFloatBitWidth() / 8);
      bytes += llvm::alignTo(plan.blocks * elements * width, 64);
    }
  }
  plan.workspaceBytes = bytes;
}

/// Every op works on single elements or adds up columns, each into one output.
static bool canRunAcrossColumns(const RowKernelPlan &plan) {
  bool hasReduction = false;
  for (linalg::GenericOp op : plan.group.getGenerics()) {
    Role role = plan.getRole(op);
    hasReduction |= role == Role::ColumnReduction;
    if (role == Role::Elementwise)
      continue;
    for (Value result : op->getResults()) {
      auto isOutput = [&](const KernelOutput &output) {
        return output.tensor == result;
      };
      if (role != Role::ColumnReduction ||
          llvm::count_if(plan.group.getOutputs(), isOutput) != 1)
        return false;
    }
  }
  return hasReduction && (plan.getNumColumns() >= kManyColumns ||
                          (plan.getNumRows() <= kFewRows &&
                           plan.getNumColumns() > kColumnGrain));
}

static void planAcrossColumns(RowKernelPlan &plan, double rowNanos) {
  plan.isAcrossColumns = true;
  int64_t steps = plan.columns.front().size;
  double stepNanos = rowNanos * plan.getNumRows() / steps;
  int64_t width = plan.getNumColumns() / steps;
  plan.grain = std::ceil(kTaskNanos / std::max(stepNanos, 1e-3));
  plan.grain = std::clamp<int64_t>(
      plan.grain, llvm::divideCeil(kColumnGrain, width),
      std::max<int64_t>(steps, llvm::divideCeil(kColumnGrain, width)));
}

int64_t RowKernelPlan::getNumSteps() const {
  if (isAcrossColumns)
    return columns.front().size;
  return partials.empty() ? getNumRows() : blocks;
}

void dist::planGrid(RowKernelPlan &plan) {
  int64_t rows = plan.getNumRows();
  double rowNanos = estimateRowNanos(plan);
  if (canRunAcrossColumns(plan))
    return planAcrossColumns(plan, rowNanos);
  plan.grain = std::max<int64_t>(1, std::ceil(kTaskNanos / rowNanos));
  if (plan.columns.empty())
    plan.grain = llvm::alignTo(plan.grain, kElementGrain);
  plan.blocks = std::clamp<int64_t>(rows / plan.grain, 1, kMaxBlocks);
  plan.rowsPerBlock = std::max<int64_t>(1, llvm::divideCeil(rows, plan.blocks));
  plan.blocks = std::max<int64_t>(1, llvm::divideCeil(rows, plan.rowsPerBlock));
  planPartials(plan);
}
