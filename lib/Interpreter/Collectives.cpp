//===- Collectives.cpp - Evaluates what moves data between ranks ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Interpreter/Interpreter.h"
#include <cmath>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The distance in ranks between neighbours along `axis`.
static int64_t getRankStride(MeshOp mesh, AxisAttr axis) {
  int64_t minor = 1;
  for (auto [name, size] :
       llvm::reverse(llvm::zip_equal(mesh.getAxes(), mesh.getShape()))) {
    if (name == axis.getName())
      return axis.isWhole() ? minor
                            : minor * size / (axis.getPre() * axis.getSize());
    minor *= size;
  }
  llvm_unreachable("the axis is in the mesh: the op's verifier checks it");
}

/// The ranks that `rank` exchanges data with over `axes`, itself included, in
/// the order of their positions.
static SmallVector<int64_t> getGroup(MeshOp mesh, ArrayRef<AxisAttr> axes,
                                     int64_t rank) {
  int64_t first = rank;
  for (AxisAttr axis : axes)
    first -= mesh.getCoordinate(rank, axis) * getRankStride(mesh, axis);
  SmallVector<int64_t> group{first};
  for (AxisAttr axis : axes) {
    SmallVector<int64_t> longer;
    for (int64_t member : group)
      for (int64_t i = 0; i < mesh.getAxisSize(axis); ++i)
        longer.push_back(member + i * getRankStride(mesh, axis));
    group = std::move(longer);
  }
  return group;
}

/// Calls `compute` once a group and gives its result to all members.
static RankTensors
computeByGroup(const RankEvaluation &at, ArrayRef<AxisAttr> axes,
               llvm::function_ref<Tensor(ArrayRef<int64_t>)> compute) {
  RankTensors results(at.numRanks);
  for (int64_t rank = 0; rank < at.numRanks; ++rank) {
    SmallVector<int64_t> group = getGroup(at.mesh, axes, rank);
    if (group.front() != rank)
      continue;
    Tensor result = compute(group);
    for (int64_t member : group)
      results[member] = result;
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static double combine(Monoid monoid, double a, double b) {
  if (monoid == Monoid::Sum)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? a : b;
  return monoid == Monoid::Max ? std::max(a, b) : std::min(a, b);
}

static int64_t combine(Monoid monoid, int64_t a, int64_t b) {
  if (monoid == Monoid::Sum)
    return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(b));
  return monoid == Monoid::Max ? std::max(a, b) : std::min(a, b);
}

/// Reduces the tensors of `group` in member order.
static Tensor reduce(Monoid monoid, const RankTensors &tensors,
                     ArrayRef<int64_t> group) {
  const Tensor &first = tensors[group.front()];
  if (!first.isFloat()) {
    std::vector<int64_t> values(first.ints());
    for (int64_t member : group.drop_front())
      for (auto [value, other] :
           llvm::zip_equal(values, tensors[member].ints()))
        value = combine(monoid, value, other);
    return Tensor::fromInts(first.getKind(), first.getShape(),
                            std::move(values));
  }
  std::vector<double> values(first.floats());
  for (int64_t member : group.drop_front()) {
    for (auto [value, other] :
         llvm::zip_equal(values, tensors[member].floats()))
      value = combine(monoid, value, other);
    roundTo(getAccumulator(first.getKind()), values);
  }
  return Tensor::fromFloats(first.getKind(), first.getShape(),
                            std::move(values));
}

/// `shape` with another size at `dim`.
static Shape withSize(ArrayRef<int64_t> shape, int64_t dim, int64_t size) {
  Shape changed(shape);
  changed[dim] = size;
  return changed;
}

/// The block of `rank` of a dimension that `whole` has undivided; padding is
/// poison.
static Tensor sliceBlock(MeshOp mesh, const Tensor &whole, int64_t dim,
                         ArrayRef<AxisAttr> axes, int64_t rank) {
  int64_t size = whole.getDimSize(dim);
  auto [begin, end] = getBlock(mesh, size, axes, rank);
  Shape strides = getStrides(whole.getShape());
  Shape held = withSize(whole.getShape(), dim, end - begin);
  Tensor valid =
      whole.pick(held, getOffsets(held, strides, begin * strides[dim]));
  Shape padded =
      withSize(whole.getShape(), dim, getLocalSize(mesh, size, axes));
  Tensor block = Tensor::poison(whole.getKind(), padded);
  block.place(getOffsets(held, getStrides(padded)), valid);
  return block;
}

/// Joins the blocks of `group` along `dim`, of `size` in all, without padding.
static Tensor joinBlocks(MeshOp mesh, const RankTensors &blocks, int64_t dim,
                         int64_t size, ArrayRef<AxisAttr> axes,
                         ArrayRef<int64_t> group) {
  const Tensor &first = blocks[group.front()];
  Shape shape = withSize(first.getShape(), dim, size);
  Shape strides = getStrides(shape);
  Tensor whole = Tensor::zeros(first.getKind(), shape);
  for (int64_t member : group) {
    auto [begin, end] = getBlock(mesh, size, axes, member);
    Shape held = withSize(shape, dim, end - begin);
    Tensor valid = blocks[member].pick(
        held, getOffsets(held, getStrides(first.getShape())));
    whole.place(getOffsets(held, strides, begin * strides[dim]), valid);
  }
  return whole;
}

static RankResults single(RankTensors tensors) {
  SmallVector<RankTensors, 1> results;
  results.push_back(std::move(tensors));
  return results;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static RankResults evaluateAllReduce(AllReduceOp op, const RankEvaluation &at) {
  SmallVector<RankTensors, 1> results;
  for (const RankTensors &tensors : at.operands)
    results.push_back(computeByGroup(
        at, op.getAxes().getAxes(), [&](ArrayRef<int64_t> group) {
          return reduce(op.getMonoid(), tensors, group);
        }));
  return results;
}

static RankResults evaluateReduceScatter(ReduceScatterOp op,
                                         const RankEvaluation &at) {
  ArrayRef<AxisAttr> axes = op.getAxes().getAxes();
  RankTensors wholes = computeByGroup(at, axes, [&](ArrayRef<int64_t> group) {
    return reduce(op.getMonoid(), at.operands[0], group);
  });
  RankTensors results;
  for (auto [rank, whole] : llvm::enumerate(wholes))
    results.push_back(sliceBlock(at.mesh, whole, op.getDim(), axes, rank));
  return single(std::move(results));
}

static RankResults evaluateAllGather(AllGatherOp op, const RankEvaluation &at) {
  ArrayRef<AxisAttr> axes = op.getAxes().getAxes();
  int64_t dim = op.getDim(), size = op.getType().getDimSize(dim);
  return single(computeByGroup(at, axes, [&](ArrayRef<int64_t> group) {
    return joinBlocks(at.mesh, at.operands[0], dim, size, axes, group);
  }));
}

static RankResults evaluateAllToAll(AllToAllOp op, const RankEvaluation &at) {
  ArrayRef<AxisAttr> axes = op.getAxes().getAxes();
  int64_t concat = op.getConcat(), size = op.getType().getDimSize(concat);
  RankTensors wholes = computeByGroup(at, axes, [&](ArrayRef<int64_t> group) {
    return joinBlocks(at.mesh, at.operands[0], concat, size, axes, group);
  });
  RankTensors results;
  for (auto [rank, whole] : llvm::enumerate(wholes))
    results.push_back(sliceBlock(at.mesh, whole, op.getSplit(), axes, rank));
  return single(std::move(results));
}

static RankResults evaluateSlice(SliceOp op, const RankEvaluation &at) {
  RankTensors results;
  for (auto [rank, whole] : llvm::enumerate(at.operands[0]))
    results.push_back(
        sliceBlock(at.mesh, whole, op.getDim(), op.getAxes().getAxes(), rank));
  return single(std::move(results));
}

static RankResults evaluatePermute(PermuteOp op, const RankEvaluation &at) {
  ArrayRef<AxisAttr> axes = op.getAxes().getAxes();
  RankTensors results;
  for (const Tensor &tensor : at.operands[0])
    results.push_back(Tensor::zeros(tensor.getKind(), tensor.getShape()));
  for (int64_t rank = 0; rank < at.numRanks; ++rank) {
    SmallVector<int64_t> group = getGroup(at.mesh, axes, rank);
    if (group.front() != rank)
      continue;
    for (size_t i = 0; i < op.getPairs().size(); i += 2)
      results[group[op.getPairs()[i + 1]]] =
          at.operands[0][group[op.getPairs()[i]]];
  }
  return single(std::move(results));
}

static RankResults evaluateContribute(ContributeOp op,
                                      const RankEvaluation &at) {
  MeshOp mesh = at.mesh;
  RankTensors results;
  for (auto [rank, tensor] : llvm::enumerate(at.operands[0])) {
    bool isFirst = mesh.getCoordinate(rank, op.getAxes().getAxes()) == 0;
    results.push_back(
        isFirst ? tensor : Tensor::zeros(tensor.getKind(), tensor.getShape()));
  }
  return single(std::move(results));
}

static RankResults evaluateAxisIndex(AxisIndexOp op, const RankEvaluation &at) {
  MeshOp mesh = at.mesh;
  auto type = cast<RankedTensorType>(op.getType());
  ElementKind kind = *getElementKind(type.getElementType());
  RankTensors results;
  for (int64_t rank = 0; rank < at.numRanks; ++rank) {
    int64_t index = mesh.getCoordinate(rank, op.getAxes().getAxes());
    results.push_back(Tensor::fromInts(
        kind, type.getShape(),
        std::vector<int64_t>(getNumElements(type.getShape()), index)));
  }
  return single(std::move(results));
}

void dist::interp::populateCollectiveEvaluators(EvaluatorRegistry &registry) {
  registry.addCollective<AllReduceOp>(evaluateAllReduce);
  registry.addCollective<ReduceScatterOp>(evaluateReduceScatter);
  registry.addCollective<AllGatherOp>(evaluateAllGather);
  registry.addCollective<AllToAllOp>(evaluateAllToAll);
  registry.addCollective<SliceOp>(evaluateSlice);
  registry.addCollective<PermuteOp>(evaluatePermute);
  registry.addCollective<ContributeOp>(evaluateContribute);
  registry.addCollective<AxisIndexOp>(evaluateAxisIndex);
}
