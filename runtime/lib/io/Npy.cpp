//===- Npy.cpp - NumPy's array files --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Npy.h"

#include <charconv>
#include <cstring>
#include <optional>

using namespace dist::io;

namespace {

/// Reads the literal of a dictionary that stands in a header, such as
/// `{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }`.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  std::optional<std::string_view> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;

  bool parse();

private:
  void skipSpace() {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n\t"), rest.size()));
  }
  bool consume(std::string_view token);
  std::optional<std::string_view> parseQuoted();
  bool parseShape();
  bool parseItem();

  std::string_view rest;
};

} // namespace

bool HeaderParser::consume(std::string_view token) {
  skipSpace();
  if (!rest.starts_with(token))
    return false;
  rest.remove_prefix(token.size());
  return true;
}

std::optional<std::string_view> HeaderParser::parseQuoted() {
  skipSpace();
  if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
    return std::nullopt;
  size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view text = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return text;
}

bool HeaderParser::parseShape() {
  shape.emplace();
  if (!consume("("))
    return false;
  while (!consume(")")) {
    skipSpace();
    int64_t size = 0;
    auto [end, failure] =
        std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (failure != std::errc() || size < 0)
      return false;
    shape->push_back(size);
    rest.remove_prefix(end - rest.data());
    if (!consume(",") && !rest.starts_with(")"))
      return false;
  }
  return true;
}

bool HeaderParser::parseItem() {
  std::optional<std::string_view> key = parseQuoted();
  if (!key || !consume(":"))
    return false;
  if (key == "descr")
    return (descr = parseQuoted()).has_value();
  if (key == "shape")
    return parseShape();
  if (key != "fortran_order")
    return false;
  fortranOrder = consume("True");
  return *fortranOrder || consume("False");
}

bool HeaderParser::parse() {
  if (!consume("{"))
    return false;
  while (!consume("}"))
    if (!parseItem() || (!consume(",") && !rest.starts_with("}")))
      return false;
  return descr && fortranOrder && shape;
}

/// The type of a descriptor such as `<i4`; byte order counts above one byte.
static std::optional<ElementType> parseDescr(std::string_view descr) {
  static constexpr struct {
    std::string_view code;
    ElementType type;
  } kTypes[] = {
      {"f8", ElementType::F64}, {"f4", ElementType::F32},
      {"f2", ElementType::F16}, {"i8", ElementType::I64},
      {"i4", ElementType::I32}, {"i2", ElementType::I16},
      {"i1", ElementType::I8},  {"u8", ElementType::U64},
      {"u4", ElementType::U32}, {"u2", ElementType::U16},
      {"u1", ElementType::U8},  {"b1", ElementType::Bool},
  };
  if (descr.empty())
    return std::nullopt;
  char order = descr[0];
  for (auto [code, type] : kTypes)
    if (descr.substr(1) == code &&
        (order == '<' || (order == '|' && getByteSize(type) == 1)))
      return type;
  return std::nullopt;
}

/// The text of the header and, through `begin`, where the data begins.
static std::optional<std::string_view> findHeader(const MappedFile &file,
                                                  int64_t &begin) {
  static constexpr char kMagic[] = "\x93NUMPY";
  if (file.size() < 10 || std::memcmp(file.data(), kMagic, 6) != 0)
    return std::nullopt;
  int major = std::to_integer<int>(file.data()[6]);
  int lengthBytes = major == 1 ? 2 : 4;
  if (major < 1 || major > 3 || file.size() < 8 + lengthBytes)
    return std::nullopt;
  uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, lengthBytes);
  begin = 8 + lengthBytes + int64_t(length);
  if (begin > file.size())
    return std::nullopt;
  const char *text = reinterpret_cast<const char *>(file.data());
  return std::string_view(text + 8 + lengthBytes, length);
}

static Error notNpy(const MappedFile &file, const char *what) {
  return makeError("'%s': %s", file.getPath().c_str(), what);
}

Expected<TensorView> dist::io::readNpy(const MappedFile &file) {
  int64_t begin = 0;
  std::optional<std::string_view> text = findHeader(file, begin);
  if (!text)
    return notNpy(file, "not an .npy file, or its header is cut off");
  HeaderParser header(*text);
  if (!header.parse())
    return notNpy(file, "the .npy header is not descr, fortran_order and shape "
                        "of one plain array");
  std::optional<ElementType> type = parseDescr(*header.descr);
  if (!type)
    return makeError("'%s': type '%.*s'; expected a little-endian integer or "
                     "float",
                     file.getPath().c_str(),
                     static_cast<int>(header.descr->size()),
                     header.descr->data());
  if (*header.fortranOrder && header.shape->size() > 1)
    return notNpy(file, "Fortran order; expected C order");
  TensorView view;
  view.name = file.getPath();
  view.type = *type;
  view.shape = std::move(*header.shape);
  view.data = file.data() + begin;
  view.bytes = getByteSize(*type);
  for (int64_t size : view.shape)
    if (__builtin_mul_overflow(view.bytes, size, &view.bytes))
      return notNpy(file, "the size of the shape overflows");
  if (view.bytes > file.size() - begin)
    return makeError("'%s': truncated: %s needs %lld bytes, has %lld",
                     file.getPath().c_str(), formatShape(view.shape).c_str(),
                     static_cast<long long>(view.bytes),
                     static_cast<long long>(file.size() - begin));
  return view;
}
