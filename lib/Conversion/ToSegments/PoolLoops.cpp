//===- PoolLoops.cpp - Loops that run on the rank's pool ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PoolLoops.h"
#include "dist/Conversion/RowKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dist;

/// Elements of a task: some 20 µs, a few times what handing it out costs.
static constexpr int64_t kTaskElements = 1 << 14;

void dist::callOnPool(SegmentBuilder &b, ValueRange operands, int64_t count,
                      int64_t elements, PoolBody body) {
  ProgramPool &pool = b.getPool();
  ImplicitLocOpBuilder k(b.getLoc(), b.getContext());
  k.setInsertionPointToEnd(pool.getModule().getBody());
  SmallVector<Type> types(operands.getTypes());
  types.append(2, k.getIndexType());
  auto func = func::FuncOp::create(k, "k", k.getFunctionType(types, {}));
  func.setPrivate();
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                    b.getContext(), LLVM::Linkage::Internal));
  for (auto [index, type] : llvm::enumerate(operands.getTypes()))
    if (isa<MemRefType>(type))
      func.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                      k.getUnitAttr());
  Block *block = func.addEntryBlock();
  k.setInsertionPointToStart(block);
  auto arguments = ValueRange(block->getArguments());
  Value one = arith::ConstantIndexOp::create(k, 1);
  scf::ForOp::create(k, arguments[operands.size()],
                     arguments[operands.size() + 1], one, {},
                     [&](OpBuilder &inner, Location loc, Value i, ValueRange) {
                       ImplicitLocOpBuilder nested(loc, inner);
                       body(nested, arguments.take_front(operands.size()), i);
                       scf::YieldOp::create(nested);
                     });
  func::ReturnOp::create(k);

  SmallVector<Value> all(operands);
  all.push_back(arith::ConstantIndexOp::create(b, 0));
  all.push_back(arith::ConstantIndexOp::create(b, count));
  auto call = func::CallOp::create(b, pool.intern(func), all);
  int64_t grain =
      std::max<int64_t>(1, kTaskElements / std::max<int64_t>(elements, 1));
  call->setAttr(kGrainAttrName, b.getI64IntegerAttr(grain));
  b.nextUnit();
}

void dist::buildLoops(
    ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
    llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> body) {
  SmallVector<Value> lower, upper, steps;
  for (int64_t size : shape) {
    lower.push_back(arith::ConstantIndexOp::create(b, 0));
    upper.push_back(arith::ConstantIndexOp::create(b, size));
    steps.push_back(arith::ConstantIndexOp::create(b, 1));
  }
  scf::buildLoopNest(b, b.getLoc(), lower, upper, steps,
                     [&](OpBuilder &inner, Location loc, ValueRange at) {
                       ImplicitLocOpBuilder nested(loc, inner);
                       body(nested, at);
                     });
}

void dist::buildPoolLoops(
    SegmentBuilder &b, ValueRange operands, ArrayRef<int64_t> shape,
    llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange, ValueRange)>
        body) {
  bool isScalar = shape.empty();
  ArrayRef<int64_t> rest = isScalar ? shape : shape.drop_front();
  int64_t elements = 1;
  for (int64_t size : rest)
    elements *= size;
  callOnPool(b, operands, isScalar ? 1 : shape.front(), elements,
             [&](ImplicitLocOpBuilder &outer, ValueRange own, Value i) {
               buildLoops(outer, rest,
                          [&](ImplicitLocOpBuilder &nested, ValueRange inner) {
                            SmallVector<Value> at;
                            if (!isScalar)
                              at.push_back(i);
                            llvm::append_range(at, inner);
                            body(nested, own, at);
                          });
             });
}
