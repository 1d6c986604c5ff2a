//===- SignatureAttrs.h - Attributes of arguments and results ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TRANSFORMS_SIGNATUREATTRS_H
#define DIST_TRANSFORMS_SIGNATUREATTRS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dist {

/// The attributes of all arguments and results of a function, changed one by
/// one and written back at once. `setArgAttr` makes a new array of all, which
/// the context keeps: quadratic time and memory for an entry that takes a
/// thousand parameters.
class SignatureAttrs {
public:
  explicit SignatureAttrs(mlir::func::FuncOp func);

  template <typename AttrTy>
  AttrTy getArg(unsigned index, llvm::StringRef name) const {
    return llvm::dyn_cast_if_present<AttrTy>(arguments[index].get(name));
  }
  void setArg(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    arguments[index].set(name, value);
  }
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    results[index].set(name, value);
  }

  /// Writes all to the function.
  void write();

private:
  mlir::func::FuncOp func;
  llvm::SmallVector<mlir::NamedAttrList, 0> arguments, results;
};

} // namespace dist

#endif // DIST_TRANSFORMS_SIGNATUREATTRS_H
