//===- OutlineSegments.cpp - Entries become lists of calls ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/FactorClasses.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Analysis/RunGroups.h"
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

namespace {
/// Cuts entries at their calls and at what belongs together in between.
class Outliner {
public:
  explicit Outliner(ModuleOp module) : symbols(module) {}

  void run(func::FuncOp entry);

private:
  void outline(func::FuncOp entry, ArrayRef<Operation *> ops, Operation *end);
  func::FuncOp createSegment(func::FuncOp entry, ArrayRef<Operation *> ops,
                             ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                             ArrayRef<Operation *> constants);
  /// The segment of the same text as `segment`, which may be `segment`.
  func::FuncOp intern(func::FuncOp entry, func::FuncOp segment);

  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> segments; ///< by text
};
} // namespace

func::FuncOp Outliner::intern(func::FuncOp entry, func::FuncOp segment) {
  std::string text;
  llvm::raw_string_ostream os(text);
  segment->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
  func::FuncOp &known = segments[text];
  if (known) {
    segment.erase();
    return known;
  }
  segment.setName((entry.getName() + "_" + Twine(segments.size() - 1)).str());
  symbols.insert(segment, Block::iterator(entry));
  known = segment;
  return segment;
}

func::FuncOp Outliner::createSegment(func::FuncOp entry,
                                     ArrayRef<Operation *> ops,
                                     ArrayRef<Value> inputs,
                                     ArrayRef<Value> outputs,
                                     ArrayRef<Operation *> constants) {
  OpBuilder b(entry.getContext());
  auto segment =
      func::FuncOp::create(ops.front()->getLoc(), "segment",
                           b.getFunctionType(ValueRange(inputs).getTypes(),
                                             ValueRange(outputs).getTypes()));
  segment.setPrivate();
  IRMapping map;
  map.map(inputs, segment.addEntryBlock()->getArguments());
  b.setInsertionPointToStart(&segment.getBody().front());
  for (Operation *constant : constants)
    b.clone(*constant, map);
  for (Operation *op : ops)
    b.clone(*op, map);
  func::ReturnOp::create(
      b, segment.getLoc(),
      llvm::map_to_vector(outputs, [&](Value v) { return map.lookup(v); }));
  return intern(entry, segment);
}

/// Moves `ops` into a function and calls it in front of `end`. Constants are
/// copied rather than passed.
void Outliner::outline(func::FuncOp entry, ArrayRef<Operation *> ops,
                       Operation *end) {
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
  func::FuncOp segment =
      createSegment(entry, ops, inputs.getArrayRef(), outputs.getArrayRef(),
                    constants.getArrayRef());
  OpBuilder b(end);
  auto call = func::CallOp::create(b, ops.front()->getLoc(), segment,
                                   inputs.getArrayRef());
  for (auto [output, result] :
       llvm::zip_equal(outputs.getArrayRef(), call.getResults()))
    Value(output).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

void Outliner::run(func::FuncOp entry) {
  struct Run {
    SmallVector<Operation *> ops;
    Operation *end;
  };
  SmallVector<Run> runs(1);
  SmallVector<Operation *> constants;
  Block &block = entry.getBody().front();
  for (Operation &op : block) {
    if (isa<func::CallOp, func::ReturnOp>(op)) {
      runs.back().end = &op;
      runs.emplace_back();
    } else if (isa<arith::ConstantOp>(op)) {
      constants.push_back(&op);
    } else {
      runs.back().ops.push_back(&op);
    }
  }
  runs.pop_back();
  // A constant that is passed or returned needs a segment that makes it.
  for (Operation *constant : constants)
    if (llvm::any_of(constant->getUsers(), [](Operation *user) {
          return isa<func::CallOp, func::ReturnOp>(user);
        }))
      runs.front().ops.insert(runs.front().ops.begin(), constant);
  llvm::SmallPtrSet<Operation *, 16> made(runs.front().ops.begin(),
                                          runs.front().ops.end());
  for (const Run &run : runs)
    for (ArrayRef<Operation *> group : partitionRun(run.ops))
      outline(entry, group, run.end);
  for (Operation *constant : constants)
    if (!made.contains(constant) && constant->use_empty())
      constant->erase();
}

namespace {
struct OutlineSegments : dist::impl::OutlineSegmentsBase<OutlineSegments> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isPrivate())
        flatten(module, func);
      else
        entries.push_back(func);
    }
    // A scalar that is broadcast once for all would tie the updates of all
    // parameters of one shape together.
    unshareBroadcasts(module);
    Outliner outliner(module);
    for (func::FuncOp entry : entries)
      outliner.run(entry);
    module->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "staged"));
  }
};
} // namespace
