//===- OpLowerings.cpp - How ops become code, by op -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpLowerings.h"
#include "dist/Conversion/HostLowerings.h"

using namespace mlir;
using namespace dist;

const OpLowerings &OpLowerings::get() {
  static const OpLowerings *all = [] {
    auto *lowerings = new OpLowerings();
    populateScalarLowerings(*lowerings);
    populateStructuralLowerings(*lowerings);
    populateIndexingLowerings(*lowerings);
    populateEinsumLowerings(*lowerings);
    populateAttentionLowerings(*lowerings);
    populateCollectiveLowerings(*lowerings);
    populateMoveLowerings(*lowerings);
    populateViewLowerings(*lowerings);
    return lowerings;
  }();
  return *all;
}

std::string dist::describeHostLowering(RegisteredOperationName op) {
  const OpLowering *lowering = OpLowerings::get().lookup(op.getTypeID());
  std::string text;
  auto add = [&](bool isThere, StringRef word) {
    if (isThere)
      text += (text.empty() ? "" : ", ") + word.str();
  };
  if (lowering) {
    add(lowering->write || lowering->element, "kernel");
    add(bool(lowering->view), "view");
    add(bool(lowering->call), "call");
  }
  return text;
}
