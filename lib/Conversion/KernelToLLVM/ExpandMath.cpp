//===- ExpandMath.cpp - f32 math functions as arithmetic ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Conversion/Passes.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

namespace dist {
#define GEN_PASS_DEF_EXPANDMATH
#include "dist/Conversion/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// Builds f32 arithmetic without fast-math flags: the steps of a range
/// reduction must not be reassociated.
struct F32Builder {
  ImplicitLocOpBuilder b;

  F32Builder(Location loc, OpBuilder &builder) : b(loc, builder) {}

  Value constant(float value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value integer(int32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value toInt(Value x) {
    return arith::BitcastOp::create(b, b.getI32Type(), x);
  }
  Value toFloat(Value x) {
    return arith::BitcastOp::create(b, b.getF32Type(), x);
  }
  Value selectIf(arith::CmpFPredicate predicate, Value x, float bound,
                 float then, Value otherwise) {
    Value test = arith::CmpFOp::create(b, predicate, x, constant(bound));
    return arith::SelectOp::create(b, test, constant(then), otherwise);
  }
};

/// exp(x) = 2^n exp(r) with n the integer nearest x log2(e). Adding 1.5 * 2^23
/// leaves n in the low bits of the sum, so no conversion to an integer, which
/// would be poison on NaN, is needed. Cephes' polynomial for exp(r).
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    F32Builder f(op.getLoc(), rewriter);
    Value x = op.getOperand(), magic = f.constant(12582912.0f);
    Value s = f.fma(x, f.constant(1.44269504f), magic);
    Value n = f.sub(s, magic);
    Value r = f.fma(n, f.constant(2.12194440e-4f),
                    f.fma(n, f.constant(-0.693359375f), x));
    Value p = f.constant(1.9875691500e-4f);
    for (float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                    1.6666665459e-1f, 5.0000001201e-1f})
      p = f.fma(p, r, f.constant(c));
    p = f.add(f.fma(p, f.mul(r, r), r), f.constant(1.0f));
    Value exponent = arith::ShLIOp::create(f.b, f.toInt(s), f.integer(23));
    Value power = arith::AddIOp::create(f.b, exponent, f.integer(0x3f800000));
    Value y = f.mul(p, f.toFloat(power));
    y = f.selectIf(arith::CmpFPredicate::OLT, x, -87.33f, 0.0f, y);
    y = f.selectIf(arith::CmpFPredicate::OGT, x, 88.37f,
                   std::numeric_limits<float>::infinity(), y);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// The hardware's estimate of 1/sqrt is too coarse to be worth its refinement.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value one = arith::ConstantOp::create(b, b.getFloatAttr(type, 1.0));
    Value root = math::SqrtOp::create(b, op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

/// The conversion to LLVM writes expm1 as exp - 1, and log1p alike: exactly
/// what they are there to avoid.
LogicalResult callLibrary(ModuleOp module) {
  ConversionTarget target(*module.getContext());
  target.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  return applyPartialConversion(module, target, std::move(patterns));
}

struct ExpandMath : dist::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp, ExpandRsqrt>(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    populatePolynomialApproximateTanhPattern(patterns);
    populatePolynomialApproximateErfPattern(patterns);
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) { return name == "math.log"; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) ||
        failed(callLibrary(getOperation())))
      signalPassFailure();
  }
};
} // namespace
