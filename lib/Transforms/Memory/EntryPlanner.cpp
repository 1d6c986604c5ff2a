//===- EntryPlanner.cpp - The buffers of one entry ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryPlanner.h"
#include "dist/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace dist;

LogicalResult EntryPlanner::collectCalls() {
  for (Operation &op : entry.getBody().front().without_terminator()) {
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      return op.emitOpError("stands in '")
             << entry.getName() << "', expected calls of segments only";
    FailureOr<func::FuncOp> body = segments.lookupBody(call);
    if (failed(body))
      return failure();
    indexOf[call] = plan.calls.size();
    bodies.push_back(*body);
    plan.calls.push_back({call, {}});
  }
  return success();
}

/// A value without a use is in use while it is computed. Of the results only
/// those with a slot must last to the end.
void EntryPlanner::computeLastUses() {
  for (auto [index, planned] : llvm::enumerate(plan.calls)) {
    for (Value operand : planned.call.getOperands())
      lastUse[operand] = index;
    for (Value result : planned.call.getResults())
      lastUse[result] = index;
  }
  Operation *end = entry.getBody().front().getTerminator();
  for (auto [value, slot] : llvm::zip_equal(end->getOperands(), resultSlots))
    if (slot)
      lastUse[value] = plan.calls.size();
}

bool EntryPlanner::isReadOnceBy(Value value, func::CallOp call) const {
  return llvm::count(call.getOperands(), value) == 1;
}

/// True if the call that computes `fresh` may write it to `slot`: what was
/// there at the beginning is read before, or by that call in a way that allows
/// it.
bool EntryPlanner::mayReplace(OpResult fresh, int64_t slot) const {
  auto old = argumentAt.find(slot);
  if (old == argumentAt.end())
    return true;
  auto use = lastUse.find(old->second);
  int64_t index = indexOf.lookup(fresh.getOwner());
  if (use == lastUse.end() || use->second < index)
    return true;
  if (use->second > index)
    return false;
  int64_t argument =
      Segments::lookupInPlaceArgument(bodies[index], fresh.getResultNumber());
  func::CallOp call = plan.calls[index].call;
  return argument >= 0 && call.getOperand(argument) == old->second &&
         isReadOnceBy(old->second, call);
}

/// Decides which results of calls are computed in the slot where they belong.
void EntryPlanner::chooseHomes() {
  Operation *end = entry.getBody().front().getTerminator();
  for (auto [value, slot] : llvm::zip_equal(end->getOperands(), resultSlots)) {
    auto result = dyn_cast<OpResult>(value);
    if (slot && result && !homes.contains(value) && mayReplace(result, *slot))
      homes[value] = *slot;
  }
}

unsigned EntryPlanner::addBuffer(Value value, PlannedBuffer buffer) {
  plan.buffers.push_back(buffer);
  unsigned index = plan.buffers.size() - 1;
  if (value)
    bufferOf[value] = index;
  return index;
}

unsigned EntryPlanner::addSlot(Value value, int64_t offset) {
  PlannedBuffer buffer;
  buffer.bytes = getByteSize(cast<ShapedType>(value.getType()));
  buffer.offset = offset;
  buffer.lastCall = plan.calls.size();
  buffer.isSlot = true;
  return addBuffer(value, buffer);
}

/// The buffer of an argument of call `index` that nobody reads later and that
/// `result` may take.
std::optional<unsigned> EntryPlanner::lookupShared(int64_t index,
                                                   OpResult result) const {
  int64_t argument =
      Segments::lookupInPlaceArgument(bodies[index], result.getResultNumber());
  func::CallOp call = plan.calls[index].call;
  if (argument < 0)
    return std::nullopt;
  Value old = call.getOperand(argument);
  unsigned buffer = bufferOf.lookup(old);
  bool fits = getByteSize(cast<ShapedType>(old.getType())) ==
              getByteSize(cast<ShapedType>(result.getType()));
  bool isTaken = llvm::is_contained(
      ArrayRef(places.back()).drop_front(call.getNumOperands()), buffer);
  if (plan.buffers[buffer].isSlot || getLastUse(old) != index || !fits ||
      isTaken || !isReadOnceBy(old, call))
    return std::nullopt;
  return buffer;
}

void EntryPlanner::planResult(int64_t index, OpResult result) {
  if (auto home = homes.find(result); home != homes.end()) {
    addSlot(result, home->second);
    return;
  }
  if (std::optional<unsigned> shared = lookupShared(index, result)) {
    bufferOf[result] = *shared;
    plan.buffers[*shared].lastCall = getLastUse(result);
    return;
  }
  PlannedBuffer buffer;
  buffer.bytes = getByteSize(cast<ShapedType>(result.getType()));
  buffer.firstCall = index;
  buffer.lastCall = getLastUse(result);
  addBuffer(result, buffer);
}

void EntryPlanner::planCall(int64_t index) {
  func::CallOp call = plan.calls[index].call;
  SmallVector<unsigned> &buffers = places.emplace_back();
  for (Value operand : call.getOperands())
    buffers.push_back(bufferOf.lookup(operand));
  for (OpResult result : call.getResults()) {
    planResult(index, result);
    buffers.push_back(bufferOf.lookup(result));
  }
  PlannedBuffer workspace;
  workspace.bytes = Segments::getWorkspaceBytes(bodies[index]);
  workspace.firstCall = workspace.lastCall = index;
  workspace.isWorkspace = true;
  buffers.push_back(addBuffer(Value(), workspace));
}

/// Results that are not where they belong are copied there. What lies in a slot
/// that itself is copied to waits in a buffer meanwhile.
void EntryPlanner::planEnd() {
  Operation *end = entry.getBody().front().getTerminator();
  llvm::DenseSet<int64_t> overwritten;
  for (auto [value, slot] : llvm::zip_equal(end->getOperands(), resultSlots)) {
    const PlannedBuffer &from = plan.buffers[bufferOf.lookup(value)];
    if (slot && !(from.isSlot && from.offset == *slot))
      overwritten.insert(*slot);
  }
  for (auto [value, slot] : llvm::zip_equal(end->getOperands(), resultSlots)) {
    unsigned from = bufferOf.lookup(value);
    resultBuffers.push_back(from);
    if (!slot || !overwritten.contains(*slot))
      continue;
    unsigned to = resultBuffers.back() = addSlot(value, *slot);
    bufferOf[value] = from;
    int64_t bytes = plan.buffers[from].bytes;
    if (plan.buffers[from].isSlot &&
        overwritten.contains(plan.buffers[from].offset)) {
      PlannedBuffer stage;
      stage.bytes = bytes;
      stage.firstCall = stage.lastCall = plan.calls.size();
      unsigned waiting = addBuffer(Value(), stage);
      staged.push_back({bytes, from, waiting});
      from = waiting;
    }
    copies.push_back({bytes, from, to});
  }
}

void EntryPlanner::planHooks() {
  Operation *end = entry.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    if (!entry.getResultAttr(index, nn::kGradAttrName))
      continue;
    plan.buffers[bufferOf.lookup(value)].isGradient = true;
    auto result = dyn_cast<OpResult>(value);
    plan.hooks.push_back(
        {unsigned(index), result ? indexOf.lookup(result.getOwner()) : -1, 0});
  }
  llvm::sort(plan.hooks, [](const PlannedHook &a, const PlannedHook &b) {
    return std::tuple(a.call, a.result) < std::tuple(b.call, b.result);
  });
}

LogicalResult EntryPlanner::run(ArrayRef<int64_t> arguments,
                                ArrayRef<Slot> results) {
  resultSlots.assign(results.begin(), results.end());
  if (failed(collectCalls()))
    return failure();
  computeLastUses();
  for (auto [argument, offset] :
       llvm::zip_equal(entry.getArguments(), arguments)) {
    argumentAt[offset] = argument;
    addSlot(argument, offset);
  }
  plan.arguments.assign(arguments.begin(), arguments.end());
  chooseHomes();
  for (size_t index = 0; index < plan.calls.size(); ++index)
    planCall(index);
  planHooks();
  planEnd();
  return success();
}

EntryPlan EntryPlanner::resolve() {
  auto offsetOf = [&](unsigned buffer) { return plan.buffers[buffer].offset; };
  for (auto [planned, buffers] : llvm::zip_equal(plan.calls, places))
    llvm::append_range(planned.offsets, llvm::map_range(buffers, offsetOf));
  Operation *end = entry.getBody().front().getTerminator();
  for (PlannedHook &hook : plan.hooks)
    hook.offset = offsetOf(bufferOf.lookup(end->getOperand(hook.result)));
  for (unsigned buffer : resultBuffers)
    plan.results.push_back(offsetOf(buffer));
  for (const Copy &copy : llvm::concat<Copy>(staged, copies))
    plan.copies.push_back({copy.bytes, offsetOf(copy.from), offsetOf(copy.to)});
  return std::move(plan);
}
