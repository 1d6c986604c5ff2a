//===- ElementKind.h - Element types of interpreted tensors -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_ELEMENTKIND_H
#define DIST_INTERPRETER_ELEMENTKIND_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>

namespace dist::interp {

/// The element types of the language. Floats are computed in double and rounded
/// to their kind; integers are held as int64_t, sign-extended from their width,
/// an i1 as 0 or 1.
enum class ElementKind : uint8_t { F64, F32, BF16, F16, I64, I32, I1 };

/// The kind of an element type, or none if the language does not have it.
std::optional<ElementKind> getElementKind(mlir::Type elementType);

/// As in types: `f32`, `i1`.
llvm::StringRef getName(ElementKind kind);

inline bool isFloat(ElementKind kind) { return kind <= ElementKind::F16; }

/// What sums of `kind` accumulate in: f64 for f64, else f32.
inline ElementKind getAccumulator(ElementKind kind) {
  return kind == ElementKind::F64 ? ElementKind::F64 : ElementKind::F32;
}

/// `value` rounded to nearest even, once, to the float `kind`.
double roundTo(ElementKind kind, double value);
void roundTo(ElementKind kind, llvm::MutableArrayRef<double> values);

/// The value that the low bits of `value` have in the integer `kind`.
inline int64_t wrapTo(ElementKind kind, int64_t value) {
  switch (kind) {
  case ElementKind::I32:
    return static_cast<int32_t>(value);
  case ElementKind::I1:
    return value & 1;
  default:
    return value;
  }
}

/// `value` of `kind` as a signed number: a set i1 is -1.
inline int64_t asSigned(ElementKind kind, int64_t value) {
  return kind == ElementKind::I1 ? -value : value;
}

/// `value` of `kind` as an unsigned number.
inline uint64_t asUnsigned(ElementKind kind, int64_t value) {
  return kind == ElementKind::I32 ? static_cast<uint32_t>(value)
                                  : static_cast<uint64_t>(value);
}

/// What fills padding, so that reading it shows: NaN, and an integer that no
/// table has a row for.
double getFloatPoison();
int64_t getIntPoison(ElementKind kind);

} // namespace dist::interp

#endif // DIST_INTERPRETER_ELEMENTKIND_H
