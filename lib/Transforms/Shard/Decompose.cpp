//===- Decompose.cpp - Composite ops as the ops they stand for ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after the derivatives are written, which know the composite ops, and
// before shardings are chosen, which should not have to. The derivative of a
// cross-entropy repeats ops of its decomposition: `--cse` merges them.
//
//===----------------------------------------------------------------------===//

#include "dist/Interfaces/DecomposableOpInterface.h"
#include "dist/Transforms/Passes.h"

namespace dist {
#define GEN_PASS_DEF_DECOMPOSE
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// Marks what is built with the layer of the op that it stands for.
struct LayerMarker : OpBuilder::Listener {
  Attribute layer;

  explicit LayerMarker(Attribute layer) : layer(layer) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (layer)
      op->setAttr(nn::kLayerAttrName, layer);
  }
};

struct Decompose : dist::impl::DecomposeBase<Decompose> {
  void runOnOperation() override {
    SmallVector<DecomposableOpInterface> composites;
    getOperation().walk(
        [&](DecomposableOpInterface op) { composites.push_back(op); });
    for (DecomposableOpInterface op : composites) {
      LayerMarker marker(op->getAttr(nn::kLayerAttrName));
      // Traces name kernels by what they come from.
      if (!isa<NameLoc>(op->getLoc()))
        op->setLoc(NameLoc::get(
            StringAttr::get(&getContext(), op->getName().stripDialect()),
            op->getLoc()));
      OpBuilder builder(op, &marker);
      op->replaceAllUsesWith(op.decompose(builder));
      op->erase();
    }
  }
};
} // namespace
