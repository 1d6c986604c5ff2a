//===- EmitRowKernels.cpp - Fusion groups as loops over rows --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "dist/Conversion/Passes.h"
#include "dist/Conversion/RowKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

namespace dist {
#define GEN_PASS_DEF_EMITROWKERNELS
#include "dist/Conversion/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// The scratch argument of `func`, which must hold what the plan needs.
static FailureOr<Value> findWorkspace(func::FuncOp func, int64_t bytes) {
  for (BlockArgument argument : func.getArguments()) {
    if (!func.getArgAttr(argument.getArgNumber(), kWorkspaceAttrName))
      continue;
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape() || type.getRank() != 1 ||
        !type.getElementType().isInteger(8) || type.getNumElements() < bytes)
      return func.emitOpError("has a workspace of type ")
             << argument.getType() << ", expected memref<" << bytes << "xi8>";
    return Value(argument);
  }
  if (bytes > 0)
    return func.emitOpError("expected a workspace argument, memref<")
           << bytes << "xi8> {" << kWorkspaceAttrName << "}";
  return Value();
}

static LogicalResult checkRank(func::FuncOp func) {
  if (func.getNumArguments() == 0 ||
      !isa<LLVM::LLVMPointerType>(func.getArgument(0).getType()))
    return func.emitOpError("expected the rank, an !llvm.ptr, as its first "
                            "argument");
  return success();
}

/// A private function over a range, with the arguments of `func` but the rank.
static func::FuncOp createRowsFunction(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  SmallVector<Type> types(func.getArgumentTypes().drop_front());
  unsigned numBuffers = types.size();
  types.append(2, IndexType::get(context));
  auto rows =
      func::FuncOp::create(func.getLoc(), func.getName().str() + "_rows",
                           FunctionType::get(context, types, {}));
  rows.setPrivate();
  // A private function with a body is external to LLVM unless told otherwise;
  // inlined, it would lose that its buffers do not overlap.
  rows->setAttr("llvm.linkage",
                LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  rows->setAttr("passthrough",
                ArrayAttr::get(context, StringAttr::get(context, "noinline")));
  for (unsigned i = 0; i < numBuffers; ++i)
    if (isa<MemRefType>(types[i]))
      rows.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      UnitAttr::get(context));
  SymbolTable symbols(func->getParentOp());
  symbols.insert(rows, std::next(Block::iterator(func)));
  rows.addEntryBlock();
  return rows;
}

static void emitRowsBody(const RowKernelPlan &plan, func::FuncOp rows,
                         Value workspace) {
  func::FuncOp func = plan.group.getFunc();
  auto b = ImplicitLocOpBuilder::atBlockEnd(func.getLoc(), &rows.front());
  IRMapping arguments;
  for (auto [from, to] :
       llvm::zip(func.getArguments().drop_front(), rows.getArguments()))
    arguments.map(from, to);
  unsigned numArguments = rows.getNumArguments();
  RowEmitter emitter(plan, b, arguments, arguments.lookupOrNull(workspace));
  emitter.emitRange(rows.getArgument(numArguments - 2),
                    rows.getArgument(numArguments - 1));
  func::ReturnOp::create(b);
}

/// Leaves a call over all rows in `func`, and the sum of the partials.
static void emitCall(const RowKernelPlan &plan, func::FuncOp rows,
                     Value workspace) {
  func::FuncOp func = plan.group.getFunc();
  Operation *oldEnd = func.front().getTerminator();
  auto b = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(), &func.front());
  bool hasPartials = !plan.partials.empty();
  SmallVector<Value> operands(func.getArguments().drop_front());
  operands.push_back(arith::ConstantIndexOp::create(b, 0));
  operands.push_back(arith::ConstantIndexOp::create(b, plan.getNumSteps()));
  auto call = func::CallOp::create(b, rows, operands);
  call->setAttr(kGrainAttrName,
                b.getI64IntegerAttr(hasPartials ? 1 : plan.grain));
  IRMapping arguments;
  for (BlockArgument argument : func.getArguments())
    arguments.map(argument, argument);
  RowEmitter(plan, b, arguments, workspace).emitFinish();
  Operation *end = func::ReturnOp::create(b);

  // Behind the new return lies the old body.
  while (oldEnd->getPrevNode() != end) {
    Operation *op = oldEnd->getPrevNode();
    op->dropAllUses();
    op->erase();
  }
  oldEnd->erase();
}

static LogicalResult emitRowKernel(func::FuncOp func) {
  FailureOr<RowKernelPlan> plan = RowKernelPlan::make(func);
  if (failed(plan) || failed(checkRank(func)))
    return failure();
  FailureOr<Value> workspace = findWorkspace(func, plan->workspaceBytes);
  if (failed(workspace))
    return failure();
  func::FuncOp rows = createRowsFunction(func);
  emitRowsBody(*plan, rows, *workspace);
  emitCall(*plan, rows, *workspace);
  func->removeAttr(kKernelAttrName);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.removeArgAttr(i, kWorkspaceAttrName);
  return success();
}

namespace {
struct EmitRowKernels : dist::impl::EmitRowKernelsBase<EmitRowKernels> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp func) {
      if (func->hasAttr(kKernelAttrName))
        kernels.push_back(func);
    });
    for (func::FuncOp func : kernels)
      if (failed(emitRowKernel(func)))
        signalPassFailure();
  }
};
} // namespace
