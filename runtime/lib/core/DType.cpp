//===- DType.cpp - Element types of the runtime ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/DType.h"

using namespace dist;

namespace {
struct Row {
  dist_dtype dtype;
  std::string_view name;
  int64_t size;
};
} // namespace

static constexpr Row kTable[] = {
    {DIST_F64, "f64", 8}, {DIST_F32, "f32", 4}, {DIST_BF16, "bf16", 2},
    {DIST_F16, "f16", 2}, {DIST_I64, "i64", 8}, {DIST_I32, "i32", 4},
    {DIST_I1, "i1", 1},
};

int64_t dist::sizeOf(dist_dtype dtype) { return kTable[dtype].size; }

std::string_view dist::nameOf(dist_dtype dtype) { return kTable[dtype].name; }

std::optional<dist_dtype> dist::dtypeOf(std::string_view name) {
  for (const Row &row : kTable)
    if (row.name == name)
      return row.dtype;
  return std::nullopt;
}

bool dist::isFloat(dist_dtype dtype) { return dtype <= DIST_F16; }

Float16::Float16(float value) {
  auto word = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(word >> 16 & 0x8000);
  float magnitude = std::fabs(value);
  if (std::isnan(value))
    bits = static_cast<uint16_t>(sign | 0x7e00 | (word >> 13 & 0x1ff));
  else if (magnitude >= 65520.0f) // Half way from the largest to 2^16.
    bits = sign | 0x7c00;
  else if (magnitude < 0x1p-14f)
    // Adding 2^-1 makes the float's last place 2^-24, that of a subnormal.
    bits = static_cast<uint16_t>(
        sign + (std::bit_cast<uint32_t>(magnitude + 0.5f) - 0x3f000000u));
  else {
    uint32_t rounded = (word & 0x7fffffff) + 0xfff + (word >> 13 & 1);
    bits = static_cast<uint16_t>(sign + ((rounded - 0x38000000u) >> 13));
  }
}

Float16::operator float() const {
  uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1f,
           fraction = bits & 0x3ff;
  if (exponent == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  exponent = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | exponent << 23 | fraction << 13);
}

double dist::loadAsDouble(dist_dtype dtype, const void *data, int64_t index) {
  return dispatch(dtype, [&](auto element) -> double {
    using T = decltype(element);
    T value = static_cast<const T *>(data)[index];
    if constexpr (sizeof(T) == 2)
      return static_cast<float>(value);
    else
      return static_cast<double>(value);
  });
}
