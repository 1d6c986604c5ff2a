//===- PlanMemory.cpp - Where every tensor lies in the arena --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryPlanner.h"
#include "Packing.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dist;

namespace {
/// What the runtime finds by name has one place for the whole run.
class SlotTable {
public:
  /// The slots of `entry`'s arguments: new ones for the step, those of the step
  /// for the evaluation.
  FailureOr<SmallVector<int64_t>> placeArguments(func::FuncOp entry,
                                                 bool isStep);
  FailureOr<SmallVector<Slot>> placeResults(func::FuncOp entry, bool isStep);

  int64_t getEnd() const { return end; }
  /// Bytes of parameters and of states.
  int64_t parameters = 0, states = 0;

private:
  struct Entry {
    int64_t offset;
    Type type;
  };

  int64_t allocate(Type type);
  FailureOr<Slot> placeResult(func::FuncOp entry, unsigned index, bool isStep);
  LogicalResult checkType(func::FuncOp entry, StringRef key, const Entry &slot,
                          Type type);

  llvm::StringMap<Entry> slots; ///< by kind and name
  int64_t end = 0;
};
} // namespace

/// What stands for an argument or result in the table: `nn.param:NAME`,
/// `nn.lr:`; empty if no attribute says what it is.
static std::string getKey(DictionaryAttr attrs) {
  static constexpr StringLiteral kinds[] = {
      nn::kParamAttrName, nn::kStateAttrName, nn::kInputAttrName,
      nn::kKeyAttrName,   nn::kLrAttrName,    nn::kStepAttrName};
  for (StringLiteral kind : kinds)
    if (Attribute value = attrs ? attrs.get(kind) : Attribute()) {
      auto name = dyn_cast<StringAttr>(value);
      return (kind + ":" + (name ? name.getValue() : "")).str();
    }
  return "";
}

int64_t SlotTable::allocate(Type type) {
  int64_t offset = end;
  end = llvm::alignTo(end + getByteSize(cast<ShapedType>(type)),
                      kBufferAlignment);
  return offset;
}

LogicalResult SlotTable::checkType(func::FuncOp entry, StringRef key,
                                   const Entry &slot, Type type) {
  if (slot.type == type)
    return success();
  return entry.emitError("has ")
         << type << " for '" << key << "', expected " << slot.type;
}

FailureOr<SmallVector<int64_t>> SlotTable::placeArguments(func::FuncOp entry,
                                                          bool isStep) {
  SmallVector<int64_t> offsets;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    std::string key = getKey(entry.getArgAttrDict(index));
    if (key.empty())
      return entry.emitError("has an argument #")
             << index << " without an attribute that says what it is";
    auto slot = slots.find(key);
    if ((slot == slots.end()) != isStep)
      return entry.emitError("has the argument '")
             << key << (isStep ? "' twice" : "', which the step has not");
    if (isStep) {
      slot = slots.try_emplace(key, Entry{allocate(type), type}).first;
      int64_t bytes = getByteSize(cast<ShapedType>(type));
      if (StringRef(key).starts_with(nn::kParamAttrName))
        parameters += bytes;
      else if (StringRef(key).starts_with(nn::kStateAttrName))
        states += bytes;
    } else if (failed(checkType(entry, key, slot->second, type))) {
      return failure();
    }
    offsets.push_back(slot->second.offset);
  }
  return offsets;
}

FailureOr<Slot> SlotTable::placeResult(func::FuncOp entry, unsigned index,
                                       bool isStep) {
  Type type = entry.getResultTypes()[index];
  DictionaryAttr attrs = entry.getResultAttrDict(index);
  std::string key = getKey(attrs);
  if (key.empty()) {
    // Of an evaluation the runtime reads the loss alone.
    bool isRead =
        isStep ? !entry.getResultAttr(index, nn::kGradAttrName) : index == 0;
    return isRead ? Slot(allocate(type)) : std::nullopt;
  }
  auto slot = slots.find(key);
  if (slot == slots.end())
    return entry.emitError("has the result '")
           << key << "', but no such argument";
  if (failed(checkType(entry, key, slot->second, type)))
    return failure();
  return Slot(slot->second.offset);
}

FailureOr<SmallVector<Slot>> SlotTable::placeResults(func::FuncOp entry,
                                                     bool isStep) {
  SmallVector<Slot> placed;
  llvm::DenseSet<int64_t> taken;
  for (unsigned index = 0; index < entry.getNumResults(); ++index) {
    FailureOr<Slot> slot = placeResult(entry, index, isStep);
    if (failed(slot))
      return failure();
    if (*slot && !taken.insert(**slot).second)
      return entry.emitError("has the result '")
             << getKey(entry.getResultAttrDict(index)) << "' twice";
    placed.push_back(*slot);
  }
  return placed;
}

static LogicalResult checkEntry(func::FuncOp entry) {
  bool hasBody = entry.getBody().hasOneBlock();
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(),
                                            entry.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !tensor.getElementType().isIntOrFloat())
      return entry.emitError("has the type ")
             << type << ", expected a tensor of static shape";
  }
  if (!hasBody)
    return entry.emitError("has no body of one block");
  return success();
}

static LogicalResult planEntry(EntryPlanner &planner, SlotTable &slots,
                               func::FuncOp entry, bool isStep) {
  if (failed(checkEntry(entry)))
    return failure();
  auto arguments = slots.placeArguments(entry, isStep);
  if (failed(arguments))
    return failure();
  auto results = slots.placeResults(entry, isStep);
  if (failed(results))
    return failure();
  return planner.run(*arguments, *results);
}

/// Adds what is alive during the call of `entry` when most is, if that is more
/// than `report` has.
static void addPeak(const EntryPlan &entry, MemoryReport &report) {
  int64_t numCalls = entry.calls.size();
  SmallVector<int64_t> gradients(numCalls + 2), others(numCalls + 2);
  SmallVector<int64_t> scratch(numCalls + 2);
  for (const PlannedBuffer &buffer : entry.buffers) {
    if (buffer.isSlot)
      continue;
    SmallVector<int64_t> &owner = buffer.isGradient    ? gradients
                                  : buffer.isWorkspace ? scratch
                                                       : others;
    owner[buffer.firstCall] += buffer.bytes;
    owner[buffer.lastCall + 1] -= buffer.bytes;
  }
  int64_t g = 0, a = 0, w = 0;
  int64_t most = report.gradients + report.activations + report.buffers;
  for (int64_t call = 0; call <= numCalls; ++call) {
    g += gradients[call];
    a += others[call];
    w += scratch[call];
    if (g + a + w <= most)
      continue;
    most = g + a + w;
    report.gradients = g;
    report.activations = a;
    report.buffers = w;
  }
}

static MemoryReport buildReport(const MemoryPlan &plan,
                                const SlotTable &slots) {
  MemoryReport report;
  addPeak(plan.step, report);
  if (plan.eval)
    addPeak(*plan.eval, report);
  report.parameters = slots.parameters;
  report.optimizer = slots.states;
  report.peak = plan.arenaBytes;
  report.buffers = report.peak - report.parameters - report.optimizer -
                   report.gradients - report.activations;
  return report;
}

FailureOr<MemoryPlan> dist::planMemory(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepEntryName);
  if (!step)
    return module.emitError("has no function 'step' to plan the memory of");
  auto eval = module.lookupSymbol<func::FuncOp>(kEvalEntryName);
  Segments segments(module);
  SlotTable slots;
  EntryPlanner stepPlanner(step, segments), evalPlanner(eval, segments);
  if (failed(planEntry(stepPlanner, slots, step, /*isStep=*/true)) ||
      (eval && failed(planEntry(evalPlanner, slots, eval, /*isStep=*/false))))
    return failure();

  MemoryPlan plan;
  plan.arenaBytes =
      std::max(packBuffers(stepPlanner.getBuffers(), slots.getEnd()),
               packBuffers(evalPlanner.getBuffers(), slots.getEnd()));
  plan.step = stepPlanner.resolve();
  if (eval)
    plan.eval = evalPlanner.resolve();
  plan.report = buildReport(plan, slots);
  return plan;
}
