//===- ReshardPlan.cpp - Collectives between two shardings ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Transforms/ReshardPlan.h"

using namespace mlir;
using namespace dist;

using AxisList = SmallVector<AxisAttr, 2>;

/// A set of axes, so written that equal sets are equal.
static AxesAttr inMeshOrder(MeshOp mesh, MLIRContext *context,
                            ArrayRef<AxisAttr> axes) {
  SmallVector<AxisAttr> ordered(axes);
  auto getPlace = [&](AxisAttr axis) {
    return std::pair(llvm::find(mesh.getAxes(), Attribute(axis.getName())) -
                         mesh.getAxes().begin(),
                     axis.getPre());
  };
  llvm::sort(ordered,
             [&](AxisAttr a, AxisAttr b) { return getPlace(a) < getPlace(b); });
  return AxesAttr::get(context, ordered);
}

RankedTensorType dist::getLocalType(RankedTensorType global, MeshOp mesh) {
  ShardingAttr sharding = getSharding(global);
  if (!sharding)
    return global;
  MLIRContext *context = global.getContext();
  SmallVector<int64_t> shape;
  SmallVector<AxisAttr> split;
  for (auto [size, dim] :
       llvm::zip_equal(global.getShape(), sharding.getDims())) {
    shape.push_back(getLocalSize(mesh, size, dim.getAxes()));
    llvm::append_range(split, dim.getAxes());
  }
  Attribute encoding;
  AxesAttr varying = inMeshOrder(mesh, context, split);
  if (!varying.getAxes().empty() || sharding.isPartial())
    encoding = LocalAttr::get(
        context, varying, sharding.getMonoid(),
        inMeshOrder(mesh, context, sharding.getPartial().getAxes()));
  return RankedTensorType::get(shape, global.getElementType(), encoding);
}

namespace {
/// The state of a reshard on its way: the block and its sharding so far.
class Resharding {
public:
  Resharding(OpBuilder &builder, Location loc, MeshOp mesh, Value value,
             RankedTensorType from, RankedTensorType to)
      : builder(builder), loc(loc), mesh(mesh), value(value), global(from) {
    ShardingAttr source = getSharding(from), target = getSharding(to);
    monoid = source.isPartial() ? source.getMonoid() : target.getMonoid();
    owed.assign(source.getPartial().getAxes().begin(),
                source.getPartial().getAxes().end());
    wantOwed.assign(target.getPartial().getAxes().begin(),
                    target.getPartial().getAxes().end());
    for (AxesAttr dim : source.getDims())
      current.emplace_back(dim.getAxes());
    for (AxesAttr dim : target.getDims())
      wanted.emplace_back(dim.getAxes());
  }

  Value run();

private:
  void reduceScatter();
  void allReduce();
  void contribute();
  void sliceFree();
  void moveSplits();
  void gather();

  /// The axes of `wanted[dim]` behind `current[dim]`, if that is a prefix.
  ArrayRef<AxisAttr> getMissing(unsigned dim) const {
    ArrayRef<AxisAttr> want = wanted[dim], have = current[dim];
    if (want.size() < have.size() || want.take_front(have.size()) != have)
      return {};
    return want.drop_front(have.size());
  }
  /// Axes of `current[dim]` behind what it has in common with `wanted[dim]`.
  ArrayRef<AxisAttr> getSurplus(unsigned dim) const {
    ArrayRef<AxisAttr> want = wanted[dim], have = current[dim];
    size_t common = 0;
    while (common < std::min(want.size(), have.size()) &&
           want[common] == have[common])
      ++common;
    return have.drop_front(common);
  }
  bool isUsed(AxisAttr axis) const {
    return llvm::any_of(current, [&](const AxisList &axes) {
      return llvm::any_of(axes, [&](AxisAttr a) { return overlap(a, axis); });
    });
  }
  RankedTensorType getType();
  AxesAttr getAxes(ArrayRef<AxisAttr> axes) const {
    return AxesAttr::get(builder.getContext(), axes);
  }

  OpBuilder &builder;
  Location loc;
  MeshOp mesh;
  Value value;
  RankedTensorType global;
  Monoid monoid;
  AxisList owed, wantOwed;
  SmallVector<AxisList> current, wanted;
};
} // namespace

/// The local type of the present state.
RankedTensorType Resharding::getType() {
  SmallVector<AxesAttr> dims;
  for (const AxisList &axes : current)
    dims.push_back(getAxes(axes));
  auto sharding = ShardingAttr::get(
      builder.getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()), dims,
      owed.empty() ? Monoid::Sum : monoid, getAxes(owed));
  return getLocalType(RankedTensorType::get(global.getShape(),
                                            global.getElementType(), sharding),
                      mesh);
}

void Resharding::reduceScatter() {
  for (unsigned dim = 0; dim < current.size(); ++dim) {
    AxisList missing(getMissing(dim));
    if (missing.empty() || !llvm::all_of(missing, [&](AxisAttr axis) {
          return llvm::is_contained(owed, axis);
        }))
      continue;
    llvm::append_range(current[dim], missing);
    llvm::erase_if(
        owed, [&](AxisAttr axis) { return llvm::is_contained(missing, axis); });
    value = ReduceScatterOp::create(builder, loc, getType(), monoid, value,
                                    getAxes(missing), dim);
  }
}

void Resharding::allReduce() {
  AxisList resolved;
  for (AxisAttr axis : owed)
    if (!llvm::is_contained(wantOwed, axis))
      resolved.push_back(axis);
  if (resolved.empty())
    return;
  llvm::erase_if(
      owed, [&](AxisAttr axis) { return llvm::is_contained(resolved, axis); });
  value = AllReduceOp::create(builder, loc, TypeRange(getType()), monoid,
                              ValueRange(value), getAxes(resolved))
              .getResult(0);
}

void Resharding::contribute() {
  AxisList fresh;
  for (AxisAttr axis : wantOwed)
    if (!llvm::is_contained(owed, axis))
      fresh.push_back(axis);
  if (fresh.empty())
    return;
  owed = wantOwed;
  value = ContributeOp::create(builder, loc, getType(), value, getAxes(fresh));
}

/// Splits along axes that nothing is split along yet: no message, and less to
/// move afterwards.
void Resharding::sliceFree() {
  for (unsigned dim = 0; dim < current.size(); ++dim) {
    AxisList missing(getMissing(dim));
    if (missing.empty() ||
        llvm::any_of(missing, [&](AxisAttr axis) { return isUsed(axis); }))
      continue;
    llvm::append_range(current[dim], missing);
    value =
        SliceOp::create(builder, loc, getType(), value, getAxes(missing), dim);
  }
}

void Resharding::moveSplits() {
  for (unsigned from = 0; from < current.size(); ++from)
    for (unsigned to = 0; to < current.size(); ++to) {
      AxisList surplus(getSurplus(from));
      if (from == to || surplus.empty() ||
          getMissing(to) != ArrayRef<AxisAttr>(surplus))
        continue;
      current[from].truncate(current[from].size() - surplus.size());
      llvm::append_range(current[to], surplus);
      value = AllToAllOp::create(builder, loc, getType(), value,
                                 getAxes(surplus), /*split=*/to,
                                 /*concat=*/from);
    }
}

void Resharding::gather() {
  for (unsigned dim = 0; dim < current.size(); ++dim) {
    AxisList surplus(getSurplus(dim));
    if (surplus.empty())
      continue;
    current[dim].truncate(current[dim].size() - surplus.size());
    value = AllGatherOp::create(builder, loc, getType(), value,
                                getAxes(surplus), dim);
  }
}

Value Resharding::run() {
  reduceScatter();
  allReduce();
  sliceFree();
  moveSplits();
  gather();
  sliceFree();
  contribute();
  return value;
}

Value dist::buildReshard(OpBuilder &builder, Location loc, MeshOp mesh,
                         Value value, RankedTensorType from,
                         RankedTensorType to) {
  return Resharding(builder, loc, mesh, value, from, to).run();
}
