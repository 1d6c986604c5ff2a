//===- ElementType.h - Element types of files and tensors -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_ELEMENTTYPE_H
#define DIST_RUNTIME_IO_ELEMENTTYPE_H

#include "dist/runtime.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dist::io {

/// What files may hold; a compiled program uses those of `dist_dtype`.
enum class ElementType : uint8_t {
  F64,
  F32,
  BF16,
  F16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool ///< one byte, 0 or 1; an i1 of a program
};

ElementType fromABI(dist_dtype dtype);

/// As in a manifest and in models: `f32`, `i1`.
std::optional<ElementType> parseElementType(std::string_view name);
const char *getName(ElementType type);

/// As in a safetensors header: `F32`, `BOOL`.
std::optional<ElementType> parseSafeTensorsType(std::string_view name);
const char *getSafeTensorsName(ElementType type);

int64_t getByteSize(ElementType type);
bool isFloat(ElementType type);

/// Rounds to nearest even, once, and stores. `type` is a float type; `to` need
/// not be aligned.
void storeFloat(ElementType type, double value, void *to);

/// The exact value of the float at `from`, which need not be aligned.
double loadFloat(ElementType type, const void *from);

/// Holds the value of every integer type.
using WideInteger = __int128;

/// The integer (or i1, as its byte) at `from`, which need not be aligned.
WideInteger loadInteger(ElementType type, const void *from);

/// In decimal, for messages. Values of 64-bit types only.
std::string formatInteger(WideInteger value);

} // namespace dist::io

#endif // DIST_RUNTIME_IO_ELEMENTTYPE_H
