//===- OutlineSegments.cpp - Entries become lists of calls ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace dist {
#define GEN_PASS_DEF_OUTLINESEGMENTS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// Replaces `call` by the body of `callee`.
static void inlineCall(func::CallOp call, func::FuncOp callee) {
  OpBuilder b(call);
  IRMapping map;
  Block &body = callee.getBody().front();
  map.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    b.clone(op, map);
  for (auto [result, returned] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(map.lookupOrDefault(returned));
  call.erase();
}

/// A segment calls nothing: what a layer function calls becomes part of it.
static void flatten(ModuleOp module, func::FuncOp func) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto call : llvm::make_early_inc_range(
             func.getBody().front().getOps<func::CallOp>())) {
      inlineCall(call, module.lookupSymbol<func::FuncOp>(call.getCallee()));
      changed = true;
    }
  }
}

/// Moves `ops`, neighbours in the entry, into a function of their own and
/// leaves a call. Constants are copied rather than passed.
static void outline(ArrayRef<Operation *> ops, StringRef name,
                    SymbolTable &symbols) {
  llvm::SetVector<Value> inputs, outputs;
  llvm::SetVector<Operation *> constants;
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (inside.contains(def))
        continue;
      if (isa_and_present<arith::ConstantOp>(def))
        constants.insert(def);
      else
        inputs.insert(operand);
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }
  OpBuilder b(ops.front());
  auto entry = ops.front()->getParentOfType<func::FuncOp>();
  b.setInsertionPoint(entry);
  auto segment = func::FuncOp::create(
      b, ops.front()->getLoc(), name,
      b.getFunctionType(ValueRange(inputs.getArrayRef()).getTypes(),
                        ValueRange(outputs.getArrayRef()).getTypes()));
  segment.setPrivate();
  symbols.insert(segment, Block::iterator(entry));
  IRMapping map;
  map.map(inputs.getArrayRef(), segment.addEntryBlock()->getArguments());
  b.setInsertionPointToStart(&segment.getBody().front());
  for (Operation *constant : constants)
    b.clone(*constant, map);
  for (Operation *op : ops)
    b.clone(*op, map);
  func::ReturnOp::create(b, segment.getLoc(),
                         llvm::map_to_vector(outputs, [&](Value value) {
                           return map.lookup(value);
                         }));
  b.setInsertionPoint(ops.front());
  auto call = func::CallOp::create(b, ops.front()->getLoc(), segment,
                                   inputs.getArrayRef());
  for (auto [output, result] :
       llvm::zip_equal(outputs.getArrayRef(), call.getResults()))
    Value(output).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// Cuts `entry` at its calls.
static void outlineRuns(func::FuncOp entry, SymbolTable &symbols) {
  SmallVector<SmallVector<Operation *>> runs(1);
  SmallVector<Operation *> constants;
  for (Operation &op : entry.getBody().front().without_terminator()) {
    if (isa<func::CallOp>(op))
      runs.emplace_back();
    else if (isa<arith::ConstantOp>(op))
      constants.push_back(&op);
    else
      runs.back().push_back(&op);
  }
  // A constant that is passed or returned needs a segment that makes it.
  for (Operation *constant : constants)
    if (llvm::any_of(constant->getUsers(), [](Operation *user) {
          return isa<func::CallOp, func::ReturnOp>(user);
        }))
      runs.front().insert(runs.front().begin(), constant);
  unsigned index = 0;
  for (ArrayRef<Operation *> run : runs)
    if (!run.empty())
      outline(run, (entry.getName() + "_" + Twine(index++)).str(), symbols);
  for (Operation *constant : constants)
    if (!llvm::is_contained(runs.front(), constant) && constant->use_empty())
      constant->erase();
}

namespace {
struct OutlineSegments : dist::impl::OutlineSegmentsBase<OutlineSegments> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isPrivate())
        flatten(module, func);
      else
        entries.push_back(func);
    }
    for (func::FuncOp entry : entries)
      outlineRuns(entry, symbols);
    module->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "staged"));
  }
};
} // namespace
