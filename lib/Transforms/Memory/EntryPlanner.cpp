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
/// there at the beginning is read before, or by that call, which works in its
/// place.
bool EntryPlanner::mayReplace(OpResult fresh, int64_t slot) const {
  auto old = argumentAt.find(slot);
  if (old == argumentAt.end())
    return true;
  auto use = lastUse.find(old->second);
  int64_t index = indexOf.lookup(fresh.getOwner());
  if (use == lastUse.end() || use->second < index)
    return true;
  return use->second == index && isInPlaceOf(fresh, slot) &&
         isReadOnceBy(old->second, plan.calls[index].call);
}

/// True if `fresh` is computed in the place of what lies in `slot`.
bool EntryPlanner::isInPlaceOf(OpResult fresh, int64_t slot) const {
  int64_t index = indexOf.lookup(fresh.getOwner());
  int64_t argument =
      Segments::lookupInPlaceArgument(bodies[index], fresh.getResultNumber());
  auto old = argumentAt.find(slot);
  func::CallOp call = plan.calls[index].call;
  return argument >= 0 && old != argumentAt.end() &&
         call.getOperand(argument) == old->second;
}

/// Decides which results of calls are computed in the slot where they belong;
/// first those that have no choice.
void EntryPlanner::chooseHomes() {
  Operation *end = entry.getBody().front().getTerminator();
  for (bool isForced : {true, false})
    for (auto [value, slot] :
         llvm::zip_equal(end->getOperands(), resultSlots)) {
      auto result = dyn_cast<OpResult>(value);
      if (slot && result && !homes.contains(value) &&
          isInPlaceOf(result, *slot) == isForced && mayReplace(result, *slot))
        setHome(result, *slot);
    }
}

/// Lets `value` be computed in `slot`, with what it is computed in place of.
void EntryPlanner::setHome(OpResult value, int64_t slot) {
  while (value && !homes.contains(value) && mayReplace(value, slot)) {
    homes[value] = slot;
    int64_t index = indexOf.lookup(value.getOwner());
    int64_t argument =
        Segments::lookupInPlaceArgument(bodies[index], value.getResultNumber());
    if (argument < 0)
      return;
    func::CallOp call = plan.calls[index].call;
    value = dyn_cast<OpResult>(call.getOperand(argument));
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

/// `result` is computed where `argument` lies: fails if that is read later, or
/// belongs to what `result` is no new value of.
LogicalResult EntryPlanner::checkReplaced(int64_t index, OpResult result,
                                          int64_t argument) {
  func::CallOp call = plan.calls[index].call;
  Value old = call.getOperand(argument);
  const PlannedBuffer &buffer = plan.buffers[bufferOf.lookup(old)];
  auto home = homes.find(result);
  bool isHome = home != homes.end() && home->second == buffer.offset;
  bool isTaken = llvm::is_contained(
      ArrayRef(places.back()).drop_front(call.getNumOperands()),
      bufferOf.lookup(old));
  if (old.getType() == result.getType() && getLastUse(old) == index &&
      isReadOnceBy(old, call) && !isTaken && (!buffer.isSlot || isHome))
    return success();
  return call.emitError("computes result #")
         << result.getResultNumber() << " in place of argument #" << argument
         << ", expected that nothing reads the argument later";
}

LogicalResult EntryPlanner::planResult(int64_t index, OpResult result) {
  int64_t argument =
      Segments::lookupInPlaceArgument(bodies[index], result.getResultNumber());
  if (argument >= 0) {
    if (failed(checkReplaced(index, result, argument)))
      return failure();
    unsigned shared =
        bufferOf.lookup(plan.calls[index].call.getOperand(argument));
    bufferOf[result] = shared;
    if (!plan.buffers[shared].isSlot)
      plan.buffers[shared].lastCall = getLastUse(result);
    return success();
  }
  if (auto home = homes.find(result); home != homes.end()) {
    addSlot(result, home->second);
    return success();
  }
  PlannedBuffer buffer;
  buffer.bytes = getByteSize(cast<ShapedType>(result.getType()));
  buffer.firstCall = index;
  buffer.lastCall = getLastUse(result);
  addBuffer(result, buffer);
  return success();
}

LogicalResult EntryPlanner::planCall(int64_t index) {
  func::CallOp call = plan.calls[index].call;
  places.emplace_back();
  for (Value operand : call.getOperands())
    places.back().push_back(bufferOf.lookup(operand));
  for (OpResult result : call.getResults()) {
    if (failed(planResult(index, result)))
      return failure();
    places.back().push_back(bufferOf.lookup(result));
  }
  PlannedBuffer workspace;
  workspace.bytes = Segments::getWorkspaceBytes(bodies[index]);
  workspace.firstCall = workspace.lastCall = index;
  workspace.isWorkspace = true;
  places.back().push_back(addBuffer(Value(), workspace));
  return success();
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
    if (failed(planCall(index)))
      return failure();
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
