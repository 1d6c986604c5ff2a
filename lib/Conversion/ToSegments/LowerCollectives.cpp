//===- LowerCollectives.cpp - Collectives as calls of the runtime ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "PoolLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;

int64_t dist::getRuntimeType(Type element) {
  if (element.isF64())
    return 0;
  if (element.isF32())
    return 1;
  if (element.isBF16())
    return 2;
  if (element.isF16())
    return 3;
  return element.isInteger(64) ? 4 : element.isInteger(32) ? 5 : 6;
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The name under which messages and traces know the op.
static Value buildName(SegmentBuilder &b, Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto reason = op->getAttrOfType<StringAttr>("dist.reason"))
    text += " " + reason.str();
  return b.addressOf(b.getPool().internText(text));
}

static LogicalResult lowerAllReduce(SegmentBuilder &b, AllReduceOp op) {
  unsigned count = op.getNumResults();
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  for (auto [operand, result] :
       llvm::zip_equal(op.getOperands(), op.getResults())) {
    // In place where nobody else reads the operand.
    bool isReturned = llvm::any_of(result.getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user);
    });
    if (operand.hasOneUse() && b.ownsTemporary(operand) && !isReturned) {
      b.setView(result, b.getView(operand));
      continue;
    }
    View source = b.getView(operand);
    View target = b.allocate(result);
    if (failed(lowerCopy(b, typeOf(operand), source, target)))
      return failure();
  }
  Value buffers =
      LLVM::AllocaOp::create(b, pointerType, pointerType, b.constantI64(count));
  SmallVector<int64_t> counts;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    Value at = LLVM::GEPOp::create(b, pointerType, pointerType, buffers,
                                   ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, b.getPointer(result), at);
    counts.push_back(typeOf(result).getNumElements());
  }
  Type element = getElementTypeOrSelf(op.getResult(0));
  b.callRuntime(
      "dist_all_reduce",
      {b.getRank(), b.constantI32(b.getPool().getCommunicator(op.getAxes())),
       b.constantI32(int64_t(op.getMonoid())),
       b.constantI32(getRuntimeType(element)), b.constantI32(count), buffers,
       b.addressOf(b.getPool().internWords(counts)), buildName(b, op)});
  b.nextUnit();
  return success();
}

/// A tensor of `type` as `groups` blocks along `dim`: the view of a buffer that
/// holds one whole block after the other, and its type with the group's
/// dimension in front of `dim`.
static std::pair<View, RankedTensorType> getBlocks(const View &buffer,
                                                   RankedTensorType type,
                                                   int64_t dim, int64_t groups,
                                                   bool groupsFirst) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= groups;
  SmallVector<int64_t> grouped(shape);
  grouped.insert(grouped.begin() + dim, groups);
  View view = buffer;
  if (groupsFirst) {
    SmallVector<int64_t> order{dim};
    for (int64_t i = 0; i < int64_t(grouped.size()); ++i)
      if (i != dim)
        order.push_back(i);
    view.strides = getStrides(grouped, order);
  } else {
    int64_t stride = buffer.strides[dim];
    view.strides.insert(view.strides.begin() + dim, stride * shape[dim]);
  }
  return {view, RankedTensorType::get(grouped, type.getElementType())};
}

static int64_t getOuter(RankedTensorType type, int64_t dim) {
  int64_t outer = 1;
  for (int64_t size : type.getShape().take_front(dim))
    outer *= size;
  return outer;
}

/// `view` of a tensor of `type` with its `groups` blocks along `dim` one behind
/// the other: itself, or a copy.
static FailureOr<View> packBlocks(SegmentBuilder &b, const View &view,
                                  RankedTensorType type, int64_t dim,
                                  int64_t groups) {
  if (getOuter(type, dim) == 1 && isContiguous(view, type))
    return view;
  View packed = b.allocateTemporary(type);
  auto [from, grouped] = getBlocks(view, type, dim, groups, false);
  auto [to, same] = getBlocks(packed, type, dim, groups, true);
  if (failed(lowerCopy(b, grouped, from, to)))
    return failure();
  return packed;
}

/// Puts the `groups` blocks that lie one behind the other in `packed` where
/// they belong along `dim` of `result`.
static LogicalResult unpackBlocks(SegmentBuilder &b, const View &packed,
                                  const View &result, RankedTensorType type,
                                  int64_t dim, int64_t groups) {
  auto [from, grouped] = getBlocks(packed, type, dim, groups, true);
  auto [to, same] = getBlocks(result, type, dim, groups, false);
  return lowerCopy(b, grouped, from, to);
}

static LogicalResult lowerAllGather(SegmentBuilder &b, AllGatherOp op) {
  MeshOp mesh = lookupMesh(b.getPool().getModule());
  int64_t groups = mesh.getGroupSize(op.getAxes().getAxes());
  RankedTensorType type = op.getType(), block = op.getOperand().getType();
  int64_t dim = op.getDim();
  if (block.getDimSize(dim) * groups != type.getDimSize(dim))
    return op.emitOpError("has no code on the host target for blocks of "
                          "unequal size");
  FailureOr<View> source = getContiguous(b, op.getOperand());
  if (failed(source))
    return failure();
  bool isDirect = getOuter(type, dim) == 1;
  View result = b.allocate(op.getResult());
  View target = isDirect ? result : b.allocateTemporary(type);
  b.callRuntime("dist_all_gather",
                {b.getRank(),
                 b.constantI32(b.getPool().getCommunicator(op.getAxes())),
                 b.constantI32(getRuntimeType(type.getElementType())),
                 b.getPointer(*source, block), b.getPointer(target, type),
                 b.constantI64(block.getNumElements()), buildName(b, op)});
  b.nextUnit();
  if (isDirect)
    return success();
  return unpackBlocks(b, target, result, type, dim, groups);
}

static LogicalResult lowerReduceScatter(SegmentBuilder &b, ReduceScatterOp op) {
  MeshOp mesh = lookupMesh(b.getPool().getModule());
  int64_t groups = mesh.getGroupSize(op.getAxes().getAxes());
  RankedTensorType type = op.getOperand().getType(), block = op.getType();
  int64_t dim = op.getDim();
  if (block.getDimSize(dim) * groups != type.getDimSize(dim))
    return op.emitOpError("has no code on the host target for blocks of "
                          "unequal size");
  FailureOr<View> source =
      packBlocks(b, b.getView(op.getOperand()), type, dim, groups);
  if (failed(source))
    return failure();
  b.allocate(op.getResult());
  b.callRuntime("dist_reduce_scatter",
                {b.getRank(),
                 b.constantI32(b.getPool().getCommunicator(op.getAxes())),
                 b.constantI32(int64_t(op.getMonoid())),
                 b.constantI32(getRuntimeType(type.getElementType())),
                 b.getPointer(*source, type), b.getPointer(op.getResult()),
                 b.constantI64(block.getNumElements()), buildName(b, op)});
  b.nextUnit();
  return success();
}

/// Blocks of the dimension to split go out one behind the other and come in as
/// blocks of the dimension to concatenate.
static LogicalResult lowerAllToAll(SegmentBuilder &b, AllToAllOp op) {
  MeshOp mesh = lookupMesh(b.getPool().getModule());
  int64_t groups = mesh.getGroupSize(op.getAxes().getAxes());
  RankedTensorType from = op.getOperand().getType(), to = op.getType();
  int64_t split = op.getSplit(), concat = op.getConcat();
  if (to.getDimSize(split) * groups != from.getDimSize(split) ||
      from.getDimSize(concat) * groups != to.getDimSize(concat))
    return op.emitOpError("has no code on the host target for blocks of "
                          "unequal size");
  FailureOr<View> sent =
      packBlocks(b, b.getView(op.getOperand()), from, split, groups);
  if (failed(sent))
    return failure();
  View result = b.allocate(op.getResult());
  bool isDirect = getOuter(to, concat) == 1;
  View received = isDirect ? result : b.allocateTemporary(to);
  b.callRuntime(
      "dist_all_to_all",
      {b.getRank(), b.constantI32(b.getPool().getCommunicator(op.getAxes())),
       b.constantI32(getRuntimeType(to.getElementType())),
       b.getPointer(*sent, from), b.getPointer(received, to),
       b.constantI64(from.getNumElements() / groups), buildName(b, op)});
  b.nextUnit();
  if (isDirect)
    return success();
  return unpackBlocks(b, received, result, to, concat, groups);
}

static LogicalResult lowerPermute(SegmentBuilder &b, PermuteOp op) {
  FailureOr<View> source = getContiguous(b, op.getOperand());
  if (failed(source))
    return failure();
  RankedTensorType type = op.getType();
  b.allocate(op.getResult());
  // Two numbers of 32 bits a word, the first one in the lower half.
  SmallVector<int64_t> pairs;
  for (size_t i = 0; i < op.getPairs().size(); i += 2)
    pairs.push_back(op.getPairs()[i] | op.getPairs()[i + 1] << 32);
  b.callRuntime(
      "dist_permute",
      {b.getRank(), b.constantI32(b.getPool().getCommunicator(op.getAxes())),
       b.constantI32(getRuntimeType(type.getElementType())),
       b.getPointer(*source, type), b.getPointer(op.getResult()),
       b.constantI64(type.getNumElements()), b.constantI32(pairs.size()),
       b.addressOf(b.getPool().internWords(pairs)), buildName(b, op)});
  b.nextUnit();
  return success();
}

/// The block is where the view begins at a distance that the device knows:
/// copied in loops, as kernels have fixed offsets.
static LogicalResult lowerSlice(SegmentBuilder &b, dist::SliceOp op) {
  RankedTensorType block = op.getType(), type = op.getOperand().getType();
  MeshOp mesh = lookupMesh(b.getPool().getModule());
  if (block.getDimSize(op.getDim()) *
          mesh.getGroupSize(op.getAxes().getAxes()) !=
      type.getDimSize(op.getDim()))
    return op.emitOpError("has no code on the host target for blocks of "
                          "unequal size");
  b.allocate(op.getResult());
  b.mark("loop", "slice");
  Value start = arith::IndexCastOp::create(
      b, b.getIndexType(),
      arith::MulIOp::create(b, b.getGroupIndex(op.getAxes().getAxes()),
                            b.constantI64(block.getDimSize(op.getDim()))));
  buildPoolLoops(
      b, {b.getMemref(op.getOperand()), b.getMemref(op.getResult()), start},
      block.getShape(),
      [&](ImplicitLocOpBuilder &nested, ValueRange own, ValueRange at) {
        SmallVector<Value> source(at);
        source[op.getDim()] =
            arith::AddIOp::create(nested, at[op.getDim()], own[2]);
        Value element = memref::LoadOp::create(nested, own[0], source);
        memref::StoreOp::create(nested, element, own[1], at);
      });
  return success();
}

/// The first device of the group keeps the value, the others hold zero.
static LogicalResult lowerContribute(SegmentBuilder &b, ContributeOp op) {
  RankedTensorType type = op.getType();
  b.allocate(op.getResult());
  b.mark("loop", "contribute");
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        b.getGroupIndex(op.getAxes().getAxes()),
                                        b.constantI64(0));
  buildPoolLoops(
      b, {b.getMemref(op.getOperand()), b.getMemref(op.getResult()), isFirst},
      type.getShape(),
      [&](ImplicitLocOpBuilder &nested, ValueRange own, ValueRange at) {
        Value zero = arith::ConstantOp::create(
            nested, nested.getFloatAttr(type.getElementType(), 0));
        Value element = memref::LoadOp::create(nested, own[0], at);
        element = arith::SelectOp::create(nested, own[2], element, zero);
        memref::StoreOp::create(nested, element, own[1], at);
      });
  return success();
}

void dist::populateCollectiveLowerings(OpLowerings &lowerings) {
  lowerings.addCall(lowerAllReduce);
  lowerings.addCall(lowerAllGather);
  lowerings.addCall(lowerReduceScatter);
  lowerings.addCall(lowerAllToAll);
  lowerings.addCall(lowerPermute);
  lowerings.addCall(lowerSlice);
  lowerings.addCall(lowerContribute);
}
