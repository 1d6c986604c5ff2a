//===- SharedDims.cpp - Loops that are one dimension ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every loop of every generic starts as a dimension of its own. What one op
// computes and another reads joins them for certain; a buffer that both read is
// a hint (a matrix may be read as it is and transposed), taken only where it
// leaves the loops of each op distinct.
//
//===----------------------------------------------------------------------===//

#include "SharedDims.h"
#include "KernelGroup.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace dist;

namespace {
class DimFinder {
public:
  explicit DimFinder(MutableArrayRef<linalg::GenericOp> generics);

  void joinProduced();
  void joinInputs();
  LogicalResult joinStrays();
  FailureOr<SharedDims> number();

private:
  unsigned id(unsigned generic, unsigned loop) const {
    return first[generic] + loop;
  }
  void join(unsigned a, unsigned b);
  bool canJoin(unsigned a, unsigned b) const;
  unsigned findMain() const;

  MutableArrayRef<linalg::GenericOp> generics;
  SmallVector<unsigned> first;
  SmallVector<int64_t> sizes;
  llvm::EquivalenceClasses<unsigned> classes;
};
} // namespace

DimFinder::DimFinder(MutableArrayRef<linalg::GenericOp> generics)
    : generics(generics) {
  for (linalg::GenericOp op : generics) {
    first.push_back(sizes.size());
    llvm::append_range(sizes, op.getStaticLoopRanges());
  }
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    classes.insert(loop);
}

void DimFinder::join(unsigned a, unsigned b) {
  assert(sizes[a] == sizes[b] && "both are the size of one tensor's axis");
  classes.unionSets(a, b);
}

/// Joining must not make two loops of one generic the same.
bool DimFinder::canJoin(unsigned a, unsigned b) const {
  if (sizes[a] != sizes[b])
    return false;
  if (classes.isEquivalent(a, b))
    return true;
  for (auto [index, op] : llvm::enumerate(generics)) {
    bool hasA = false, hasB = false;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      hasA |= classes.isEquivalent(a, id(index, loop));
      hasB |= classes.isEquivalent(b, id(index, loop));
    }
    if (hasA && hasB)
      return false;
  }
  return true;
}

/// Calls `visit(consumer loop, position in the tensor)` for every axis of
/// `operand` that is indexed by a loop alone.
static void forEachAxis(linalg::GenericOp op, OpOperand &operand,
                        llvm::function_ref<void(unsigned, unsigned)> visit) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      visit(dim.getPosition(), axis);
}

void DimFinder::joinProduced() {
  for (auto [index, op] : llvm::enumerate(generics)) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
      if (!producer)
        continue;
      unsigned from = llvm::find(generics, producer) - generics.begin();
      AffineMap map =
          producer.getIndexingMapMatchingResult(cast<OpResult>(operand.get()));
      forEachAxis(op, operand,
                  [&, index = index](unsigned loop, unsigned axis) {
                    if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis)))
                      join(id(from, dim.getPosition()), id(index, loop));
                  });
    }
  }
}

void DimFinder::joinInputs() {
  llvm::DenseMap<std::pair<Value, unsigned>, unsigned> seen;
  for (auto [index, op] : llvm::enumerate(generics)) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value buffer = lookupBuffer(operand.get());
      if (!buffer)
        continue;
      forEachAxis(op, operand,
                  [&, index = index](unsigned loop, unsigned axis) {
                    auto [entry, isNew] =
                        seen.try_emplace({buffer, axis}, id(index, loop));
                    if (!isNew && canJoin(entry->second, id(index, loop)))
                      classes.unionSets(entry->second, id(index, loop));
                  });
    }
  }
}

/// The op with the most loops that are worth the name.
unsigned DimFinder::findMain() const {
  auto rank = [&](linalg::GenericOp op) {
    return llvm::count_if(op.getStaticLoopRanges(),
                          [](int64_t size) { return size != 1; });
  };
  return llvm::max_element(generics,
                           [&](linalg::GenericOp a, linalg::GenericOp b) {
                             return rank(a) < rank(b);
                           }) -
         generics.begin();
}

/// An op that shares no buffer with the rest joins it loop by loop.
LogicalResult DimFinder::joinStrays() {
  unsigned main = findMain();
  for (auto [index, op] : llvm::enumerate(generics)) {
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      auto isMain = [&](unsigned other) {
        return classes.isEquivalent(id(main, other), id(index, loop));
      };
      if (sizes[id(index, loop)] == 1 ||
          llvm::any_of(llvm::seq(generics[main].getNumLoops()), isMain))
        continue;
      if (op.getNumLoops() != generics[main].getNumLoops() ||
          !canJoin(id(main, loop), id(index, loop)))
        return op.emitOpError("shares no dimension with the rest of the "
                              "kernel: loop ")
               << loop << " of size " << sizes[id(index, loop)];
      classes.unionSets(id(main, loop), id(index, loop));
    }
  }
  return success();
}

FailureOr<SharedDims> DimFinder::number() {
  SharedDims shared;
  llvm::DenseMap<unsigned, unsigned> numbers;
  auto numberOf = [&](unsigned index, unsigned loop) {
    unsigned leader = classes.getLeaderValue(id(index, loop));
    auto [entry, isNew] = numbers.try_emplace(leader, shared.sizes.size());
    if (isNew)
      shared.sizes.push_back(sizes[leader]);
    return entry->second;
  };
  unsigned main = findMain();
  for (unsigned loop = 0; loop < generics[main].getNumLoops(); ++loop)
    numberOf(main, loop);
  for (auto [index, op] : llvm::enumerate(generics)) {
    SmallVector<unsigned> &dims = shared.dims.emplace_back();
    llvm::SmallSet<unsigned, 8> used;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      dims.push_back(numberOf(index, loop));
      if (!used.insert(dims.back()).second)
        return op.emitOpError("uses one dimension of the kernel twice");
    }
  }
  return shared;
}

FailureOr<SharedDims>
dist::inferSharedDims(MutableArrayRef<linalg::GenericOp> generics) {
  DimFinder finder(generics);
  finder.joinProduced();
  finder.joinInputs();
  if (failed(finder.joinStrays()))
    return failure();
  return finder.number();
}
