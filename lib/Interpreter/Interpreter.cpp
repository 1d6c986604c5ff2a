//===- Interpreter.cpp - Runs functions on all ranks ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Interpreter.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

/// Deep enough for any model; a function that calls itself never ends.
static constexpr unsigned kMaxCallDepth = 64;

static bool isCollective(Operation *op) {
  return isa<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp, PermuteOp,
             SliceOp, ContributeOp, AxisIndexOp>(op);
}

bool dist::interp::hasLocalShapes(ModuleOp module) {
  if (auto phase = module->getAttrOfType<StringAttr>(kPhaseAttrName)) {
    static constexpr StringLiteral local[] = {"local", "staged", "overlapped"};
    return llvm::is_contained(local, phase.getValue());
  }
  return module
      .walk([](Operation *op) {
        return isCollective(op) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

Interpreter::Interpreter(ModuleOp module, InterpreterOptions options)
    : module(module), options(options), mesh(lookupMesh(module)) {
  if (mesh && hasLocalShapes(module))
    numRanks = mesh.getNumDevices();
  populateArithEvaluators(registry);
  populateMathEvaluators(registry);
  populateStructuralEvaluators(registry);
  populateElementwiseEvaluators(registry);
  populateNormalizationEvaluators(registry);
  populateAttentionEvaluators(registry);
  populateIndexingEvaluators(registry);
  populateShapeEvaluators(registry);
  populateRandomEvaluators(registry);
  populateCollectiveEvaluators(registry);
  populateControlEvaluators(registry);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The values of one call; each is freed after its last use.
class Interpreter::Frame {
public:
  void set(Value value, RankTensors tensors) {
    if (value.use_empty())
      return;
    values.try_emplace(value, Entry{std::move(tensors), countUses(value)});
  }

  RankTensors use(Value value) {
    auto it = values.find(value);
    assert(it != values.end() && "values are set before they are used");
    if (--it->second.usesLeft)
      return it->second.tensors;
    RankTensors tensors = std::move(it->second.tensors);
    values.erase(it);
    return tensors;
  }

private:
  struct Entry {
    RankTensors tensors;
    unsigned usesLeft;
  };

  static unsigned countUses(Value value) {
    return std::distance(value.use_begin(), value.use_end());
  }

  llvm::DenseMap<Value, Entry> values;
};

/// Refuses element types that the language does not have.
static LogicalResult checkTypes(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!getElementKind(getElementTypeOrSelf(type)))
      return op->emitOpError("has a result of type ")
             << type << ", which cannot be interpreted";
  return success();
}

RankResults Interpreter::run(func::FuncOp func,
                             SmallVector<RankTensors, 1> arguments) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("cannot be run: it needs a body of one block");
  if (callDepth == kMaxCallDepth)
    return func.emitOpError("is called ")
           << kMaxCallDepth << " calls deep; recursion cannot be run";
  ++callDepth;
  llvm::scope_exit leave([&] { --callDepth; });
  Frame frame;
  for (auto [value, tensors] : llvm::zip_equal(func.getArguments(), arguments))
    frame.set(value, std::move(tensors));
  arguments.clear();
  for (Operation &op : func.front()) {
    SmallVector<RankTensors> operands;
    for (Value operand : op.getOperands())
      operands.push_back(frame.use(operand));
    if (isa<func::ReturnOp>(op))
      return SmallVector<RankTensors, 1>(
          std::make_move_iterator(operands.begin()),
          std::make_move_iterator(operands.end()));
    RankResults results = evaluate(&op, operands);
    if (failed(results))
      return failure();
    for (auto [value, tensors] : llvm::zip_equal(op.getResults(), *results))
      frame.set(value, std::move(tensors));
  }
  llvm_unreachable("a function ends with a return");
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

RankResults Interpreter::evaluate(Operation *op,
                                  ArrayRef<RankTensors> operands) {
  if (failed(checkTypes(op)))
    return failure();
  if (const auto *evaluate = registry.lookupCollective(op))
    return (*evaluate)(RankEvaluation{op, operands, *this, mesh, numRanks});
  if (const auto *evaluate = registry.lookupLocal(op))
    return evaluateOnRanks(*evaluate, op, operands);
  return op->emitOpError("cannot be interpreted");
}

/// The first rank below `rank` that holds the same operands, by storage.
static std::optional<int64_t> findTwin(ArrayRef<RankTensors> operands,
                                       int64_t rank) {
  for (int64_t twin = 0; twin < rank; ++twin)
    if (llvm::all_of(operands, [&](const RankTensors &tensors) {
          return tensors[twin].getStorage() == tensors[rank].getStorage();
        }))
      return twin;
  return std::nullopt;
}

RankResults
Interpreter::evaluateOnRanks(const EvaluatorRegistry::Local &evaluate,
                             Operation *op, ArrayRef<RankTensors> operands) {
  SmallVector<RankTensors, 1> results(op->getNumResults());
  bool dependsOnRank = op->hasAttr("place");
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    std::optional<int64_t> twin =
        dependsOnRank ? std::nullopt : findTwin(operands, rank);
    if (twin) {
      for (RankTensors &tensors : results) {
        Tensor shared = tensors[*twin];
        tensors.push_back(std::move(shared));
      }
      continue;
    }
    SmallVector<Tensor> local;
    for (const RankTensors &tensors : operands)
      local.push_back(tensors[rank]);
    Results found = evaluate(Evaluation{op, local, options, mesh, rank});
    if (found.failed())
      return failure();
    for (auto [tensors, tensor] : llvm::zip_equal(results, found.tensors))
      tensors.push_back(std::move(tensor));
  }
  return results;
}
