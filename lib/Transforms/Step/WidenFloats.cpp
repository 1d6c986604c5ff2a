//===- WidenFloats.cpp - All floats in f64 --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Dialect/NN/IR/Written.h"
#include "dist/Transforms/Passes.h"
#include "dist/Transforms/SignatureAttrs.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"

namespace dist {
#define GEN_PASS_DEF_WIDENFLOATS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

static RankedTensorType widen(RankedTensorType type) {
  return isa<FloatType>(type.getElementType())
             ? type.clone(Float64Type::get(type.getContext()))
             : type;
}

/// The value that was written, not the decimals: f32 0.1 stays f32 0.1.
static APFloat widen(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static DenseElementsAttr widen(DenseFPElementsAttr elements) {
  auto tensor = dyn_cast<RankedTensorType>(elements.getType());
  if (!tensor)
    return elements;
  RankedTensorType type = widen(tensor);
  if (elements.isSplat())
    return DenseElementsAttr::get(type,
                                  widen(elements.getSplatValue<APFloat>()));
  SmallVector<APFloat> values;
  for (APFloat value : elements.getValues<APFloat>())
    values.push_back(widen(std::move(value)));
  return DenseElementsAttr::get(type, values);
}

/// Notes what the arguments were: initial values are rounded to it.
static void recordWritten(func::FuncOp func) {
  SignatureAttrs attrs(func);
  for (BlockArgument arg : func.getArguments()) {
    Type element = getElementTypeOrSelf(arg.getType());
    if (isa<FloatType>(element) && !element.isF64())
      attrs.setArg(arg.getArgNumber(), nn::kWrittenAttrName,
                   TypeAttr::get(element));
  }
  attrs.write();
}

/// Types of values and of functions and elements of constants. Numbers that
/// options of an op are given in (`eps = 1.0e-5 : f32`) have no tensor type
/// and stay.
static void widenTypes(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](RankedTensorType type) -> std::optional<Type> { return widen(type); });
  replacer.addReplacement([](DenseFPElementsAttr elements) {
    return std::pair<Attribute, WalkResult>(widen(elements),
                                            WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// What an op says about its elements beside its types.
static void widenNumbers(Operation *op) {
  if (auto pad = dyn_cast<nn::PadOp>(op))
    if (auto number = dyn_cast<FloatAttr>(pad.getValue()))
      pad.setValueAttr(FloatAttr::get(Float64Type::get(op->getContext()),
                                      widen(number.getValue())));
}

/// Casts between floats are the identity now.
static void dropCast(Operation *op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return;
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
}

namespace {
struct WidenFloats : dist::impl::WidenFloatsBase<WidenFloats> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    if (auto entry = module.lookupSymbol<func::FuncOp>(this->entry))
      recordWritten(entry);
    widenTypes(module);
    module.walk([](Operation *op) {
      widenNumbers(op);
      dropCast(op);
    });
  }
};
} // namespace
