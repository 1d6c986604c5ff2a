//===- JoinPads.cpp - Sums of padded parts are concatenations -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/TensorBuilder.h"
#include "dist/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dist {
#define GEN_PASS_DEF_JOINPADS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

/// The only dimension along which `pad` adds zeros, or -1.
static int64_t getPaddedDim(nn::PadOp pad) {
  auto value = dyn_cast<FloatAttr>(pad.getValue());
  if (!value || !value.getValue().isZero() || pad.getInterior())
    return -1;
  int64_t found = -1;
  for (auto [dim, low, high] : llvm::enumerate(pad.getLow(), pad.getHigh()))
    if (low || high) {
      if (found >= 0)
        return -1;
      found = dim;
    }
  return found;
}

/// Collects the summands of `value` if all are pads used once.
static bool collectPads(Value value, SmallVectorImpl<nn::PadOp> &pads) {
  if (!value.hasOneUse())
    return false;
  if (auto pad = value.getDefiningOp<nn::PadOp>()) {
    pads.push_back(pad);
    return true;
  }
  auto add = value.getDefiningOp<arith::AddFOp>();
  return add && collectPads(add.getLhs(), pads) &&
         collectPads(add.getRhs(), pads);
}

namespace {
struct JoinPadsOfSum : OpRewritePattern<arith::AddFOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<nn::PadOp> pads;
    if (!collectPads(op.getLhs(), pads) || !collectPads(op.getRhs(), pads))
      return failure();
    int64_t dim = getPaddedDim(pads.front());
    if (dim < 0 ||
        llvm::any_of(
            pads, [&](nn::PadOp pad) { return getPaddedDim(pad) != dim; }))
      return failure();
    llvm::sort(pads, [&](nn::PadOp a, nn::PadOp b) {
      return a.getLow()[dim] < b.getLow()[dim];
    });
    int64_t end = 0;
    SmallVector<Value> parts;
    for (nn::PadOp pad : pads) {
      if (pad.getLow()[dim] != end) // a gap or an overlap
        return failure();
      end += pad.getInput().getType().getDimSize(dim);
      parts.push_back(pad.getInput());
    }
    auto type = cast<RankedTensorType>(op.getType());
    if (end != type.getDimSize(dim))
      return failure();
    rewriter.replaceOpWithNewOp<nn::ConcatOp>(op, type, parts, dim);
    return success();
  }
};

struct JoinPads : dist::impl::JoinPadsBase<JoinPads> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<JoinPadsOfSum>(&getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};
} // namespace
