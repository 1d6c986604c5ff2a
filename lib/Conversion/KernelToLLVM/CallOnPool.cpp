//===- CallOnPool.cpp - Calls over a range run on the rank's pool ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Conversion/Passes.h"
#include "dist/Conversion/RowKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace dist {
#define GEN_PASS_DEF_CALLONPOOL
#include "dist/Conversion/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static constexpr llvm::StringLiteral kParallelFor = "dist_parallel_for";

static LLVM::LLVMFuncOp getParallelFor(ModuleOp module) {
  if (auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(kParallelFor))
    return func;
  auto b = OpBuilder::atBlockBegin(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(module.getContext()),
      {pointer, pointer, pointer, b.getI64Type(), b.getI64Type()});
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), kParallelFor, type);
}

/// `void task(void *args, int64_t lo, int64_t hi)`, which calls `callee`.
static LLVM::LLVMFuncOp createTask(LLVM::LLVMFuncOp callee, Type packed) {
  MLIRContext *context = callee.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  OpBuilder builder(context);
  auto task = LLVM::LLVMFuncOp::create(
      builder, callee.getLoc(), callee.getName().str() + "_task",
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, i64, i64}),
      LLVM::Linkage::Internal);
  SymbolTable(callee->getParentOp())
      .insert(task, std::next(Block::iterator(callee)));
  auto b = ImplicitLocOpBuilder::atBlockEnd(callee.getLoc(),
                                            task.addEntryBlock(builder));
  SmallVector<Value> operands;
  ArrayRef<Type> fields = cast<LLVM::LLVMStructType>(packed).getBody();
  for (auto [index, type] : llvm::enumerate(fields)) {
    Value field = LLVM::GEPOp::create(
        b, pointer, packed, task.getArgument(0),
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    operands.push_back(LLVM::LoadOp::create(b, type, field));
  }
  llvm::append_range(operands, task.getArguments().drop_front());
  LLVM::CallOp::create(b, callee, operands);
  LLVM::ReturnOp::create(b, ValueRange());
  return task;
}

/// A block of its own on the caller's stack, made once per call of the caller.
static Value packOperands(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp caller,
                          Type packed, ValueRange operands) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value args;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&caller.front());
    Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    args = LLVM::AllocaOp::create(b, pointer, packed, one);
  }
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Value field = LLVM::GEPOp::create(
        b, pointer, packed, args,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    LLVM::StoreOp::create(b, operand, field);
  }
  return args;
}

static LogicalResult callOnPool(LLVM::CallOp call, LLVM::LLVMFuncOp callee) {
  auto grain = call->getAttrOfType<IntegerAttr>(kGrainAttrName);
  auto caller = call->getParentOfType<LLVM::LLVMFuncOp>();
  if (caller.getNumArguments() == 0 ||
      !isa<LLVM::LLVMPointerType>(caller.getArgument(0).getType()))
    return caller.emitOpError("expected the rank, an !llvm.ptr, as its first "
                              "argument");
  ValueRange operands = call.getArgOperands();
  Value count = operands.back();
  APInt rows;
  if (matchPattern(count, m_ConstantInt(&rows)) &&
      rows.getSExtValue() <= grain.getInt()) {
    call->removeAttr(kGrainAttrName);
    return success();
  }
  operands = operands.drop_back(2);
  ImplicitLocOpBuilder b(call.getLoc(), call);
  auto packed = LLVM::LLVMStructType::getLiteral(
      b.getContext(), llvm::to_vector(operands.getTypes()));
  LLVM::LLVMFuncOp task = createTask(callee, packed);
  Value args = packOperands(b, caller, packed, operands);
  Value taskPointer = LLVM::AddressOfOp::create(b, task);
  Value step = LLVM::ConstantOp::create(b, b.getI64Type(), grain.getInt());
  LLVM::CallOp::create(
      b, getParallelFor(call->getParentOfType<ModuleOp>()),
      ValueRange{caller.getArgument(0), taskPointer, args, count, step});
  call.erase();
  return success();
}

namespace {
struct CallOnPool : dist::impl::CallOnPoolBase<CallOnPool> {
  void runOnOperation() override {
    SmallVector<LLVM::CallOp> calls;
    getOperation().walk([&](LLVM::CallOp call) {
      if (call->hasAttr(kGrainAttrName))
        calls.push_back(call);
    });
    for (LLVM::CallOp call : calls) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
          call, call.getCalleeAttr());
      if (!callee) {
        call.emitOpError("expected a call of a function of this module");
        return signalPassFailure();
      }
      if (failed(callOnPool(call, callee)))
        return signalPassFailure();
    }
  }
};
} // namespace
