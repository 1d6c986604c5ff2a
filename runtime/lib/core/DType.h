//===- DType.h - Element types of the runtime -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_DTYPE_H
#define DIST_RUNTIME_CORE_DTYPE_H

#include "dist/runtime.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dist {

/// Bytes of one element; an i1 takes one byte.
int64_t sizeOf(dist_dtype dtype);

/// `f64 f32 bf16 f16 i64 i32 i1`.
std::string_view nameOf(dist_dtype dtype);
std::optional<dist_dtype> dtypeOf(std::string_view name);

bool isFloat(dist_dtype dtype);

/// A bf16 or f16 value is kept as its bits and computed on in f32. Rounding is
/// to nearest, ties to even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    auto word = std::bit_cast<uint32_t>(value);
    if (std::isnan(value))
      bits = static_cast<uint16_t>(word >> 16 | 0x40);
    else
      bits = static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
};

/// Element `index` of an array of `dtype`, widened. Integers above 2^53 round.
double loadAsDouble(dist_dtype dtype, const void *data, int64_t index);

/// Calls `body` with a value of the C++ type that stores `dtype`.
template <typename Body>
decltype(auto) dispatch(dist_dtype dtype, Body &&body) {
  switch (dtype) {
  case DIST_F64:
    return body(double());
  case DIST_F32:
    return body(float());
  case DIST_BF16:
    return body(BFloat16());
  case DIST_F16:
    return body(Float16());
  case DIST_I64:
    return body(int64_t());
  case DIST_I32:
    return body(int32_t());
  case DIST_I1:
    break;
  }
  return body(uint8_t());
}

} // namespace dist

#endif // DIST_RUNTIME_CORE_DTYPE_H
