//===- LowerAttention.cpp - Attention as calls of the runtime -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;

namespace {
/// Writes the words of dist_attention_desc (runtime.h) for an attention or its
/// gradient.
template <typename OpTy>
class AttentionDesc {
public:
  AttentionDesc(SegmentBuilder &b, OpTy op) : b(b), op(op) {
    auto q = cast<RankedTensorType>(op.getQ().getType());
    auto v = cast<RankedTensorType>(op.getV().getType());
    isGrouped = q.getRank() == 5;
    batch = q.getDimSize(0);
    kvHeads = v.getDimSize(1);
    heads = isGrouped ? q.getDimSize(1) * q.getDimSize(2) : q.getDimSize(1);
    rows = q.getDimSize(q.getRank() - 2);
  }

  /// Strides of b, g, r, s of a tensor laid out as q is.
  SmallVector<int64_t> getQueryStrides(const View &view) {
    ArrayRef<int64_t> s = view.strides;
    if (isGrouped)
      return {s[0], s[1], s[2], s[3]};
    int64_t repeat = heads / kvHeads;
    return {s[0], s[1] * repeat, s[1], s[2]};
  }
  static SmallVector<int64_t> getKeyStrides(const View &view) {
    return {view.strides[0], view.strides[1], view.strides[2]};
  }

  SmallVector<int64_t> getWords(const View &q, const View &k, const View &v,
                                const View &o);
  Value getPointer(SmallVector<int64_t> words);

private:
  SmallVector<int64_t> getBiasStrides();

  SegmentBuilder &b;
  OpTy op;
  bool isGrouped;
  int64_t batch, kvHeads, heads, rows;
};
} // namespace

static int64_t bits(double value) { return llvm::bit_cast<int64_t>(value); }

/// Aligned at the end to `b g r s t`; 0 where it broadcasts.
template <typename OpTy>
SmallVector<int64_t> AttentionDesc<OpTy>::getBiasStrides() {
  SmallVector<int64_t> strides(5, 0);
  Value bias = op.getBias();
  if (!bias)
    return strides;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(bias.getType()).getShape();
  const View &view = b.getView(bias);
  int64_t repeat = heads / kvHeads;
  SmallVector<int64_t> full = isGrouped ? SmallVector<int64_t>{0, 1, 2, 3, 4}
                                        : SmallVector<int64_t>{0, 2, 3, 4};
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t dim = full[full.size() - shape.size() + i];
    if (shape[i] != 1)
      strides[dim] = view.strides[i];
  }
  if (!isGrouped)
    strides[1] = strides[2] * repeat;
  return strides;
}

template <typename OpTy>
SmallVector<int64_t> AttentionDesc<OpTy>::getWords(const View &q, const View &k,
                                                   const View &v,
                                                   const View &o) {
  auto vType = cast<RankedTensorType>(op.getV().getType());
  auto qType = cast<RankedTensorType>(op.getQ().getType());
  int64_t dtype = qType.getElementType().isF64() ? 0 : 1;
  SmallVector<int64_t> words{dtype | int64_t(op.getCausal()) << 32,
                             batch,
                             kvHeads,
                             heads / kvHeads,
                             rows,
                             vType.getDimSize(2),
                             qType.getShape().back(),
                             vType.getShape().back()};
  llvm::append_range(words, getQueryStrides(q));
  llvm::append_range(words, getKeyStrides(k));
  llvm::append_range(words, getKeyStrides(v));
  llvm::append_range(words, getQueryStrides(o));
  llvm::append_range(words, getBiasStrides());
  words.push_back(op.getWindow().value_or(0));
  auto number = [](auto value) { return value ? value->convertToDouble() : 0; };
  words.push_back(bits(op.getScale().convertToDouble()));
  words.push_back(bits(number(op.getSoftcap())));
  words.push_back(bits(number(op.getDropout())));
  for (int64_t size :
       {batch, kvHeads, heads / kvHeads, rows, vType.getDimSize(2)})
    words.push_back(size);
  words.append(4, 0);
  return words;
}

/// The descriptor in memory; a copy with this device's place where the mask of
/// dropped probabilities follows global positions.
template <typename OpTy>
Value AttentionDesc<OpTy>::getPointer(SmallVector<int64_t> words) {
  PlaceAttr place = op.getPlaceAttr();
  constexpr int64_t kGlobal = 31, kOffset = 36;
  if (!place)
    return b.addressOf(b.getPool().internWords(words));
  ArrayRef<int64_t> shape = place.getShape();
  words[kGlobal] = shape[0];
  words[kGlobal + 1] = shape[1];
  words[kGlobal + 2] = isGrouped ? shape[2] : 1;
  words[kGlobal + 3] = shape[shape.size() - 2];
  Type i64 = b.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value count = b.constantI64(words.size());
  Value copy = LLVM::AllocaOp::create(b, pointer, i64, count);
  auto store = [&](int64_t index, Value value) {
    Value at = LLVM::GEPOp::create(b, pointer, i64, copy,
                                   ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, value, at);
  };
  for (auto [index, word] : llvm::enumerate(words))
    store(index, b.constantI64(word));
  MeshOp mesh = lookupMesh(b.getPool().getModule());
  for (int64_t dim = 0; dim + 1 < int64_t(shape.size()); ++dim) {
    ArrayRef<AxisAttr> axes = place.getDims()[dim].getAxes();
    if (axes.empty())
      continue;
    Value index = b.getGroupIndex(axes);
    int64_t block = getLocalSize(mesh, shape[dim], axes);
    // Words are b, g, r, s; without groups heads are g of one query head each.
    store(kOffset + (isGrouped || dim < 2 ? dim : dim + 1),
          arith::MulIOp::create(b, index, b.constantI64(block)));
  }
  return copy;
}

/// A pointer to an optional operand, null if it is not there.
static Value getOptional(SegmentBuilder &b, Value value) {
  if (!value)
    return LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()));
  return b.getPointer(value);
}

/// `value` with a last dimension of stride 1, which the kernels want.
static FailureOr<View> getDense(SegmentBuilder &b, Value value) {
  View view = b.getView(value);
  if (view.strides.back() == 1)
    return view;
  return getContiguous(b, value);
}

static LogicalResult lowerForward(SegmentBuilder &b, nn::AttentionOp op) {
  FailureOr<View> q = getDense(b, op.getQ()), k = getDense(b, op.getK()),
                  v = getDense(b, op.getV());
  if (failed(q) || failed(k) || failed(v))
    return failure();
  allocateForReaders(b, op.getResult());
  View o = b.getView(op.getResult());
  auto qType = cast<RankedTensorType>(op.getQ().getType());
  View lse;
  Type lseElement = b.getF32Type();
  if (qType.getElementType().isF64())
    lseElement = b.getF64Type();
  auto lseType =
      RankedTensorType::get(qType.getShape().drop_back(), lseElement);
  lse = op.getLse() ? b.allocate(op.getLse()) : b.allocateTemporary(lseType);
  AttentionDesc<nn::AttentionOp> desc(b, op);
  Value words = desc.getPointer(desc.getWords(*q, *k, *v, o));
  auto pointer = [&](const View &view, Value like) {
    return b.getPointer(view, cast<RankedTensorType>(like.getType()));
  };
  b.mark("attention", "forward");
  b.callRuntime(
      "dist_attention",
      {b.getRank(), words, pointer(*q, op.getQ()), pointer(*k, op.getK()),
       pointer(*v, op.getV()), getOptional(b, op.getBias()),
       getOptional(b, op.getSegmentIds()), getOptional(b, op.getKey()),
       b.getPointer(op.getResult()), b.getPointer(lse, lseType)});
  b.nextUnit();
  return success();
}

static LogicalResult lowerBackward(SegmentBuilder &b, nn::AttentionGradOp op) {
  SmallVector<View> dense;
  for (Value value :
       {op.getQ(), op.getK(), op.getV(), op.getOut(), op.getGrad()}) {
    FailureOr<View> view = getDense(b, value);
    if (failed(view))
      return failure();
    dense.push_back(*view);
  }
  FailureOr<View> lse = getContiguous(b, op.getLse());
  if (failed(lse))
    return failure();
  SmallVector<View> grads;
  for (Value value : {op.getDq(), op.getDk(), op.getDv()}) {
    allocateForReaders(b, value);
    grads.push_back(b.getView(value));
  }
  if (op.getDbias())
    b.allocate(op.getDbias());
  AttentionDesc<nn::AttentionGradOp> desc(b, op);
  SmallVector<int64_t> words =
      desc.getWords(dense[0], dense[1], dense[2], dense[3]);
  SmallVector<int64_t> tail = desc.getQueryStrides(dense[4]);
  llvm::append_range(tail, desc.getQueryStrides(grads[0]));
  llvm::append_range(tail, desc.getKeyStrides(grads[1]));
  llvm::append_range(tail, desc.getKeyStrides(grads[2]));
  llvm::append_range(words, tail);
  Value pointer = desc.getPointer(words);
  auto at = [&](const View &view, Value like) {
    return b.getPointer(view, cast<RankedTensorType>(like.getType()));
  };
  b.mark("attention", "backward");
  b.callRuntime("dist_attention_grad",
                {b.getRank(), pointer, at(dense[0], op.getQ()),
                 at(dense[1], op.getK()), at(dense[2], op.getV()),
                 getOptional(b, op.getBias()),
                 getOptional(b, op.getSegmentIds()),
                 getOptional(b, op.getKey()), at(dense[3], op.getOut()),
                 at(*lse, op.getLse()), at(dense[4], op.getGrad()),
                 b.getPointer(op.getDq()), b.getPointer(op.getDk()),
                 b.getPointer(op.getDv()), getOptional(b, op.getDbias())});
  b.nextUnit();
  return success();
}

void dist::populateAttentionLowerings(OpLowerings &lowerings) {
  lowerings.addCall(lowerForward);
  lowerings.addCall(lowerBackward);
}
