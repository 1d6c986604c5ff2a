//===- LowerViews.cpp - Ops that only rename elements ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"

using namespace mlir;
using namespace dist;

/// Strides of `op`'s result in the buffer of its operand, if its merges fit.
static std::optional<SmallVector<int64_t, 5>> getRearranged(nn::RearrangeOp op,
                                                            const View &view) {
  auto type = op.getInput().getType();
  auto sizes =
      nn::inferNameSizes(op, op.getPattern(), type, op.getResult().getType());
  if (failed(sizes))
    return std::nullopt;
  llvm::StringMap<int64_t> strideOf;
  for (auto [dim, stride] : llvm::zip_equal(
           op.getPattern().getOperands()[0].getDims(), view.strides)) {
    int64_t inner = stride;
    for (auto name : llvm::reverse(dim.getAsRange<StringAttr>())) {
      strideOf[name.getValue()] = inner;
      inner *= sizes->lookup(name.getValue());
    }
  }
  SmallVector<int64_t, 5> strides;
  for (ArrayAttr dim : op.getPattern().getResult().getDims()) {
    int64_t stride = 1, expected = -1;
    bool isFirst = true;
    for (auto name : llvm::reverse(dim.getAsRange<StringAttr>())) {
      int64_t size = sizes->lookup(name.getValue());
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
    strides.push_back(stride);
  }
  return strides;
}

bool dist::lowerView(SegmentBuilder &b, Operation *op) {
  if (isa<nn::StopGradientOp, VaryOp, nn::CheckedOp>(op)) {
    b.setView(op->getResult(0), b.getView(op->getOperand(0)));
    return true;
  }
  if (auto rearrange = dyn_cast<nn::RearrangeOp>(op)) {
    View view = b.getView(rearrange.getInput());
    auto strides = getRearranged(rearrange, view);
    if (!strides)
      return false;
    view.strides = *strides;
    b.setView(rearrange.getResult(), view);
    return true;
  }
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    View view = b.getView(slice.getInput());
    for (auto [start, step, stride] :
         llvm::zip_equal(slice.getStarts(), slice.getStrides(), view.strides)) {
      view.offset += start * stride;
      stride *= step;
    }
    b.setView(slice.getResult(), view);
    return true;
  }
  if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
    View view = b.getView(reshape.getInput());
    if (!isContiguous(view, reshape.getInput().getType()))
      return false;
    view.strides = getStrides(reshape.getResult().getType().getShape());
    b.setView(reshape.getResult(), view);
    return true;
  }
  return false;
}

SmallVector<int64_t> dist::getPreferredOrder(Value value) {
  if (!value.hasOneUse())
    return {};
  auto rearrange = dyn_cast<nn::RearrangeOp>(*value.user_begin());
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
