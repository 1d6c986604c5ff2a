//===- SignatureAttrs.cpp - Attributes of arguments and results -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Transforms/SignatureAttrs.h"

using namespace mlir;
using namespace dist;

SignatureAttrs::SignatureAttrs(func::FuncOp func) : func(func) {
  for (unsigned index = 0; index < func.getNumArguments(); ++index)
    arguments.emplace_back(func.getArgAttrDict(index));
  for (unsigned index = 0; index < func.getNumResults(); ++index)
    results.emplace_back(func.getResultAttrDict(index));
}

void SignatureAttrs::write() {
  MLIRContext *context = func.getContext();
  auto getDicts = [&](MutableArrayRef<NamedAttrList> lists) {
    return llvm::map_to_vector(lists, [&](NamedAttrList &list) {
      return list.getDictionary(context);
    });
  };
  func.setAllArgAttrs(getDicts(arguments));
  func.setAllResultAttrs(getDicts(results));
}
