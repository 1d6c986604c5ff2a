//===- LowerViews.cpp - Ops that only rename elements ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "OpLowerings.h"

using namespace mlir;
using namespace dist;

/// Strides of a tensor of the dimensions `to` that is one of `from` with
/// `strides`, if its merges fit.
static std::optional<SmallVector<int64_t, 5>>
getRearranged(nn::TermAttr from, nn::TermAttr to, const nn::NameSizes &sizes,
              ArrayRef<int64_t> strides) {
  llvm::StringMap<int64_t> strideOf;
  for (auto [dim, stride] : llvm::zip_equal(from.getDims(), strides)) {
    int64_t inner = stride;
    for (auto name : llvm::reverse(dim.getAsRange<StringAttr>())) {
      strideOf[name.getValue()] = inner;
      inner *= sizes.lookup(name.getValue());
    }
  }
  SmallVector<int64_t, 5> rearranged;
  for (ArrayAttr dim : to.getDims()) {
    int64_t stride = 1, expected = -1;
    bool isFirst = true;
    for (auto name : llvm::reverse(dim.getAsRange<StringAttr>())) {
      int64_t size = sizes.lookup(name.getValue());
      if (size == 1)
        continue;
      int64_t own = strideOf.lookup(name.getValue());
      if (isFirst)
        stride = own;
      else if (own != expected)
        return std::nullopt;
      isFirst = false;
      expected = own * size;
    }
    rearranged.push_back(stride);
  }
  return rearranged;
}

/// `view` of the operand of `op` as one of its result or, `isBack`, the other
/// way round.
static std::optional<View> getRearranged(nn::RearrangeOp op, View view,
                                         bool isBack) {
  auto sizes = nn::inferNameSizes(op, op.getPattern(), op.getInput().getType(),
                                  op.getResult().getType());
  if (failed(sizes))
    return std::nullopt;
  nn::TermAttr from = op.getPattern().getOperands()[0];
  nn::TermAttr to = op.getPattern().getResult();
  if (isBack)
    std::swap(from, to);
  auto strides = getRearranged(from, to, *sizes, view.strides);
  if (!strides)
    return std::nullopt;
  view.strides = *strides;
  return view;
}

static bool viewRearranged(SegmentBuilder &b, nn::RearrangeOp op) {
  auto view = getRearranged(op, b.getView(op.getInput()), /*isBack=*/false);
  if (view)
    b.setView(op.getResult(), *view);
  return view.has_value();
}

static bool viewSlice(SegmentBuilder &b, nn::SliceOp op) {
  View view = b.getView(op.getInput());
  for (auto [start, step, stride] :
       llvm::zip_equal(op.getStarts(), op.getStrides(), view.strides)) {
    view.offset += start * stride;
    stride *= step;
  }
  b.setView(op.getResult(), view);
  return true;
}

static bool viewReshaped(SegmentBuilder &b, nn::ReshapeOp op) {
  View view = b.getView(op.getInput());
  if (!isContiguous(view, op.getInput().getType()))
    return false;
  view.strides = getStrides(op.getResult().getType().getShape());
  b.setView(op.getResult(), view);
  return true;
}

/// The operand under another name.
template <typename OpTy>
static bool viewSame(SegmentBuilder &b, OpTy op) {
  b.setView(op->getResult(0), b.getView(op->getOperand(0)));
  return true;
}

/// Where elements change places: through a contiguous copy the view fits.
template <typename OpTy, bool (*view)(SegmentBuilder &, OpTy)>
static LogicalResult lowerThroughCopy(SegmentBuilder &b, OpTy op) {
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  View copy = b.allocateTemporary(type);
  if (failed(lowerCopy(b, type, b.getView(input), copy)))
    return failure();
  View original = b.getView(input);
  b.setView(input, copy);
  bool fits = view(b, op);
  b.setView(input, original);
  return fits ? success()
              : op.emitOpError("has no code on the host target: its merges do "
                               "not fit");
}

void dist::populateViewLowerings(OpLowerings &lowerings) {
  lowerings.addView<nn::StopGradientOp>(viewSame);
  lowerings.addView<VaryOp>(viewSame);
  lowerings.addView(viewRearranged);
  lowerings.addView(viewSlice);
  lowerings.addView(viewReshaped);
  lowerings.addCall(lowerThroughCopy<nn::RearrangeOp, viewRearranged>);
  lowerings.addCall(lowerThroughCopy<nn::ReshapeOp, viewReshaped>);
}

/// The part of the result of `concat` that `value`, an operand, fills.
static View getPart(SegmentBuilder &b, nn::ConcatOp concat, Value value) {
  if (!b.hasView(concat.getResult()))
    allocateForReaders(b, concat.getResult());
  View part = b.getView(concat.getResult());
  for (Value input : concat.getInputs()) {
    if (input == value)
      break;
    part.offset +=
        cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim()) *
        part.strides[concat.getDim()];
  }
  return part;
}

/// Where a reader of `value` wants it: as a part of a concatenation or, seen
/// through rearrangements, as a result of the segment.
static std::optional<View> lookupPlace(SegmentBuilder &b, Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto concat = dyn_cast<nn::ConcatOp>(user))
      return getPart(b, concat, value);
    auto rearrange = dyn_cast<nn::RearrangeOp>(user);
    if (!rearrange)
      continue;
    auto place = b.lookupResult(rearrange.getResult());
    if (!place)
      place = lookupPlace(b, rearrange.getResult());
    auto view = place ? getRearranged(rearrange, *place, /*isBack=*/true)
                      : std::nullopt;
    if (view)
      return view;
  }
  return std::nullopt;
}

/// The order, major to minor, in which the dimensions of `value` best lie: as
/// a permutation that reads it wants them.
static SmallVector<int64_t> getPreferredOrder(Value value) {
  nn::RearrangeOp rearrange;
  for (Operation *user : value.getUsers()) {
    if (isa<func::ReturnOp>(user))
      return {};
    if (!rearrange)
      rearrange = dyn_cast<nn::RearrangeOp>(user);
  }
  if (!rearrange)
    return {};
  llvm::StringMap<int64_t> dimOf;
  for (auto [dim, names] :
       llvm::enumerate(rearrange.getPattern().getOperands()[0].getDims())) {
    if (names.size() != 1)
      return {};
    dimOf[cast<StringAttr>(names[0]).getValue()] = dim;
  }
  SmallVector<int64_t> order;
  for (StringRef name : rearrange.getPattern().getResult().getNames())
    order.push_back(dimOf.lookup(name));
  return order;
}

static bool isDense(ArrayRef<int64_t> strides) {
  return strides.empty() || strides.back() == 1;
}

bool dist::placeForReaders(SegmentBuilder &b, Value value) {
  if (b.lookupResult(value))
    return false;
  auto place = lookupPlace(b, value);
  if (!place || !isDense(place->strides))
    return false;
  b.setView(value, *place);
  return true;
}

void dist::allocateForReaders(SegmentBuilder &b, Value value) {
  if (placeForReaders(b, value))
    return;
  SmallVector<int64_t> order = getPreferredOrder(value);
  if (!order.empty() && order.back() != int64_t(order.size()) - 1)
    order.clear();
  b.allocate(value, order);
}

FailureOr<View> dist::getContiguous(SegmentBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  View view = b.getView(value);
  if (isContiguous(view, type))
    return view;
  View copy = b.allocateTemporary(type);
  if (failed(lowerCopy(b, type, view, copy)))
    return failure();
  return copy;
}
