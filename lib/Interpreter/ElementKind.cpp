//===- ElementKind.cpp - Element types of interpreted tensors -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/ElementKind.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include <limits>

using namespace mlir;
using namespace dist::interp;

std::optional<ElementKind> dist::interp::getElementKind(Type type) {
  if (type.isF64())
    return ElementKind::F64;
  if (type.isF32())
    return ElementKind::F32;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isSignlessInteger(64))
    return ElementKind::I64;
  if (type.isSignlessInteger(32))
    return ElementKind::I32;
  if (type.isSignlessInteger(1))
    return ElementKind::I1;
  return std::nullopt;
}

StringRef dist::interp::getName(ElementKind kind) {
  static constexpr StringLiteral names[] = {"f64", "f32", "bf16", "f16",
                                            "i64", "i32", "i1"};
  return names[size_t(kind)];
}

double dist::interp::roundTo(ElementKind kind, double value) {
  if (kind == ElementKind::F64)
    return value;
  if (kind == ElementKind::F32)
    return static_cast<float>(value);
  assert(isFloat(kind) && "integers are wrapped");
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(kind == ElementKind::BF16 ? llvm::APFloat::BFloat()
                                            : llvm::APFloat::IEEEhalf(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  rounded.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

void dist::interp::roundTo(ElementKind kind, MutableArrayRef<double> values) {
  if (kind == ElementKind::F64)
    return;
  if (kind == ElementKind::F32) {
    for (double &value : values)
      value = static_cast<float>(value);
    return;
  }
  for (double &value : values)
    value = roundTo(kind, value);
}

double dist::interp::getFloatPoison() {
  return std::numeric_limits<double>::quiet_NaN();
}

int64_t dist::interp::getIntPoison(ElementKind kind) {
  return wrapTo(kind, 0x7F7F7F7F);
}
