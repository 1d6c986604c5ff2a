//===- ElementType.cpp - Element types of files and tensors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/ElementType.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace dist;
using namespace dist::io;

namespace {
struct Row {
  ElementType type;
  const char *name, *safeTensorsName;
  int64_t bytes;
};

/// A float format of 16 bits: places after the point, and the exponents of its
/// smallest and largest normal numbers.
struct HalfFormat {
  int places, minExponent, maxExponent;
};
} // namespace

static constexpr Row kTable[] = {
    {ElementType::F64, "f64", "F64", 8},
    {ElementType::F32, "f32", "F32", 4},
    {ElementType::BF16, "bf16", "BF16", 2},
    {ElementType::F16, "f16", "F16", 2},
    {ElementType::I64, "i64", "I64", 8},
    {ElementType::I32, "i32", "I32", 4},
    {ElementType::I16, "i16", "I16", 2},
    {ElementType::I8, "i8", "I8", 1},
    {ElementType::U64, "ui64", "U64", 8},
    {ElementType::U32, "ui32", "U32", 4},
    {ElementType::U16, "ui16", "U16", 2},
    {ElementType::U8, "ui8", "U8", 1},
    {ElementType::Bool, "i1", "BOOL", 1},
};

static constexpr HalfFormat kBF16 = {7, -126, 127};
static constexpr HalfFormat kF16 = {10, -14, 15};

static const Row &rowOf(ElementType type) {
  return kTable[static_cast<size_t>(type)];
}

ElementType dist::io::fromABI(dist_dtype dtype) {
  switch (dtype) {
  case DIST_F64:
    return ElementType::F64;
  case DIST_F32:
    return ElementType::F32;
  case DIST_BF16:
    return ElementType::BF16;
  case DIST_F16:
    return ElementType::F16;
  case DIST_I64:
    return ElementType::I64;
  case DIST_I32:
    return ElementType::I32;
  case DIST_I1:
    break;
  }
  return ElementType::Bool;
}

std::optional<ElementType> dist::io::parseElementType(std::string_view name) {
  for (const Row &row : kTable)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

const char *dist::io::getName(ElementType type) { return rowOf(type).name; }

std::optional<ElementType>
dist::io::parseSafeTensorsType(std::string_view name) {
  for (const Row &row : kTable)
    if (row.safeTensorsName == name)
      return row.type;
  return std::nullopt;
}

const char *dist::io::getSafeTensorsName(ElementType type) {
  return rowOf(type).safeTensorsName;
}

int64_t dist::io::getByteSize(ElementType type) { return rowOf(type).bytes; }

bool dist::io::isFloat(ElementType type) { return type <= ElementType::F16; }

/// Going through f32 would round twice; here the double is rounded once to a
/// multiple of the last place, and the multiple is the encoding.
static uint16_t roundToHalf(double value, HalfFormat format) {
  int exponentBits = 15 - format.places;
  uint16_t infinity = ((1u << exponentBits) - 1) << format.places;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | infinity | 1u << (format.places - 1);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  if (std::isinf(magnitude))
    return sign | infinity;
  int exponent = std::max(std::ilogb(magnitude), format.minExponent);
  if (exponent > format.maxExponent)
    return sign | infinity;
  double multiple =
      std::nearbyint(std::scalbn(magnitude, format.places - exponent));
  // The hidden bit of a normal number counts one exponent more, and a carry out
  // of the places lands in the exponent by itself, infinity included.
  uint32_t scale = exponent - format.minExponent;
  return sign | ((scale << format.places) + static_cast<uint32_t>(multiple));
}

static double loadHalf(uint16_t bits, HalfFormat format) {
  int exponentBits = 15 - format.places;
  int exponent = bits >> format.places & ((1 << exponentBits) - 1);
  int fraction = bits & ((1 << format.places) - 1);
  double magnitude;
  if (exponent == (1 << exponentBits) - 1)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::scalbn(fraction, format.minExponent - format.places);
  else
    magnitude = std::scalbn(fraction | 1 << format.places,
                            exponent - 1 + format.minExponent - format.places);
  return bits & 0x8000 ? -magnitude : magnitude;
}

template <typename T>
static void store(T value, void *to) {
  std::memcpy(to, &value, sizeof(T));
}

template <typename T>
static T load(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void dist::io::storeFloat(ElementType type, double value, void *to) {
  if (type == ElementType::F64)
    store(value, to);
  else if (type == ElementType::F32)
    store(static_cast<float>(value), to);
  else
    store(roundToHalf(value, type == ElementType::BF16 ? kBF16 : kF16), to);
}

double dist::io::loadFloat(ElementType type, const void *from) {
  if (type == ElementType::F64)
    return load<double>(from);
  if (type == ElementType::F32)
    return load<float>(from);
  return loadHalf(load<uint16_t>(from),
                  type == ElementType::BF16 ? kBF16 : kF16);
}

WideInteger dist::io::loadInteger(ElementType type, const void *from) {
  switch (type) {
  case ElementType::I64:
    return load<int64_t>(from);
  case ElementType::I32:
    return load<int32_t>(from);
  case ElementType::I16:
    return load<int16_t>(from);
  case ElementType::I8:
    return load<int8_t>(from);
  case ElementType::U64:
    return load<uint64_t>(from);
  case ElementType::U32:
    return load<uint32_t>(from);
  case ElementType::U16:
    return load<uint16_t>(from);
  default:
    return load<uint8_t>(from);
  }
}

std::string dist::io::formatInteger(WideInteger value) {
  return value < 0 ? std::to_string(static_cast<int64_t>(value))
                   : std::to_string(static_cast<uint64_t>(value));
}
