//===- TensorBlock.cpp - A rank's block of a global tensor ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/TensorBlock.h"

#include <cstring>
#include <limits>
#include <optional>

using namespace dist::io;

TensorBlock TensorBlock::whole(std::vector<int64_t> dims) {
  TensorBlock block;
  block.offsets.assign(dims.size(), 0);
  block.sizes = block.padded = dims;
  block.dims = std::move(dims);
  return block;
}

std::string dist::io::formatShape(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

static bool isSigned(ElementType type) {
  return type >= ElementType::I64 && type <= ElementType::I8;
}

static WideInteger maxOf(ElementType type) {
  if (type == ElementType::Bool)
    return 1;
  int bits = 8 * static_cast<int>(getByteSize(type)) - isSigned(type);
  return (WideInteger(1) << bits) - 1;
}

static WideInteger minOf(ElementType type) {
  return isSigned(type) ? -maxOf(type) - 1 : 0;
}

namespace {
/// Converts single integers; remembers the first that did not fit.
struct IntegerConversion {
  ElementType from, to;
  WideInteger low = minOf(to), high = maxOf(to);
  std::optional<int64_t> badElement = std::nullopt;

  void operator()(const std::byte *base, int64_t index, std::byte *result) {
    WideInteger value = loadInteger(from, base + index * getByteSize(from));
    if ((value < low || value > high) && !badElement)
      badElement = index;
    std::memcpy(result, &value, getByteSize(to)); // little-endian truncation
  }
};
} // namespace

static Error copyIntegers(const TensorView &from, const TensorBlock &block,
                          ElementType to, std::byte *local) {
  IntegerConversion convert{from.type, to};
  int64_t bytes = getByteSize(to);
  block.forEachRow([&](int64_t source, int64_t target, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      convert(from.data, source + i, local + (target + i) * bytes);
  });
  if (!convert.badElement)
    return Error::success();
  WideInteger value = loadInteger(
      from.type, from.data + *convert.badElement * getByteSize(from.type));
  return makeError("'%s' holds %s at element %lld, which does not fit in %s",
                   from.name.c_str(), formatInteger(value).c_str(),
                   static_cast<long long>(*convert.badElement), getName(to));
}

static void copyFloats(const TensorView &from, const TensorBlock &block,
                       ElementType to, std::byte *local) {
  int64_t fromBytes = getByteSize(from.type), toBytes = getByteSize(to);
  block.forEachRow([&](int64_t source, int64_t target, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      storeFloat(to, loadFloat(from.type, from.data + (source + i) * fromBytes),
                 local + (target + i) * toBytes);
  });
}

static void copyBits(const TensorView &from, const TensorBlock &block,
                     std::byte *local) {
  int64_t bytes = getByteSize(from.type);
  block.forEachRow([&](int64_t source, int64_t target, int64_t count) {
    std::memcpy(local + target * bytes, from.data + source * bytes,
                count * bytes);
  });
}

Error dist::io::copyIn(const TensorView &from, const TensorBlock &block,
                       ElementType to, void *local) {
  int64_t elements = 1;
  for (int64_t size : block.dims)
    elements *= size;
  if (from.bytes != elements * getByteSize(from.type))
    return makeError("'%s' is %s; expected %s", from.name.c_str(),
                     formatShape(from.shape).c_str(),
                     formatShape(block.dims).c_str());
  auto *bytes = static_cast<std::byte *>(local);
  if (isFloat(from.type) != isFloat(to))
    return makeError("'%s' is %s; expected %s", from.name.c_str(),
                     getName(from.type), getName(to));
  // A byte of an i1 may be anything in a file, but must be 0 or 1 here.
  if (from.type == to && to != ElementType::Bool)
    copyBits(from, block, bytes);
  else if (isFloat(to))
    copyFloats(from, block, to, bytes);
  else
    return copyIntegers(from, block, to, bytes);
  return Error::success();
}

void dist::io::copyOut(const void *local, const TensorBlock &block,
                       ElementType type, void *global) {
  int64_t bytes = getByteSize(type);
  block.forEachRow([&](int64_t target, int64_t source, int64_t count) {
    std::memcpy(static_cast<std::byte *>(global) + target * bytes,
                static_cast<const std::byte *>(local) + source * bytes,
                count * bytes);
  });
}
