//===- SafeTensorsHeader.cpp - The header of a safetensors file -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/SafeTensorsHeader.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

using namespace dist::io;

namespace {

/// Listens to the parser, so that what a DOM would hide (duplicate keys, depth)
/// is seen, and nothing is stored that is not expected where it stands.
class HeaderListener {
public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  struct Entry {
    TensorView view;
    std::vector<int64_t> offsets;
    std::set<std::string> fields;
  };

  std::vector<Entry> entries;
  Metadata metadata;
  std::string problem;

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a truth value"); }
  bool number_integer(number_integer_t) {
    return unexpected("a negative number");
  }
  bool number_float(number_float_t, const string_t &text) {
    return unexpected("the number " + text);
  }
  bool binary(binary_t &) { return unexpected("binary data"); }
  bool number_unsigned(number_unsigned_t value);
  bool string(string_t &text);
  bool start_object(size_t);
  bool end_object();
  bool start_array(size_t);
  bool end_array();
  bool key(string_t &name);
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &);

private:
  /// Where the parser stands.
  enum class At { Outside, Header, Metadata, Tensor, Shape, Offsets, End };

  bool fail(std::string text) {
    if (problem.empty())
      problem = std::move(text);
    return false;
  }
  bool unexpected(const std::string &what);
  bool endTensor();

  At at = At::Outside;
  std::string name, field;
  std::set<std::string> names;
};

} // namespace

bool HeaderListener::unexpected(const std::string &what) {
  if (at == At::Outside)
    return fail("the header is " + what + "; expected an object");
  std::string where = at == At::Header ? "for" : "in";
  return fail(what + " " + where + " '" + name + "'" +
              (field.empty() ? "" : ", '" + field + "'"));
}

bool HeaderListener::number_unsigned(number_unsigned_t value) {
  if (at != At::Shape && at != At::Offsets)
    return unexpected("a number");
  if (value > uint64_t(std::numeric_limits<int64_t>::max()))
    return unexpected("the number " + std::to_string(value));
  Entry &entry = entries.back();
  (at == At::Shape ? entry.view.shape : entry.offsets).push_back(value);
  return true;
}

bool HeaderListener::string(string_t &text) {
  if (at == At::Metadata) {
    metadata[field] = text;
    return true;
  }
  if (at != At::Tensor || field != "dtype")
    return unexpected("a string");
  std::optional<ElementType> type = parseSafeTensorsType(text);
  if (!type)
    return fail("tensor '" + name + "' has the unknown dtype '" + text + "'");
  entries.back().view.type = *type;
  return true;
}

bool HeaderListener::start_object(size_t) {
  if (at == At::Outside) {
    at = At::Header;
    return true;
  }
  if (at != At::Header)
    return unexpected("an object");
  if (name == "__metadata__") {
    at = At::Metadata;
    return true;
  }
  at = At::Tensor;
  entries.emplace_back().view.name = name;
  return true;
}

bool HeaderListener::endTensor() {
  const Entry &entry = entries.back();
  for (const char *needed : {"dtype", "shape", "data_offsets"})
    if (!entry.fields.count(needed))
      return fail("tensor '" + name + "' lacks '" + needed + "'");
  if (entry.offsets.size() != 2)
    return fail("tensor '" + name + "' has " +
                std::to_string(entry.offsets.size()) +
                " data offsets; expected 2");
  return true;
}

bool HeaderListener::end_object() {
  bool isTensor = at == At::Tensor;
  at = at == At::Header ? At::End : At::Header;
  field.clear();
  return !isTensor || endTensor();
}

bool HeaderListener::start_array(size_t) {
  if (at != At::Tensor || (field != "shape" && field != "data_offsets"))
    return unexpected("an array");
  at = field == "shape" ? At::Shape : At::Offsets;
  return true;
}

bool HeaderListener::end_array() {
  at = At::Tensor;
  return true;
}

bool HeaderListener::key(string_t &text) {
  if (at == At::Header) {
    name = text;
    return names.insert(text).second || fail("'" + text + "' comes twice");
  }
  field = text;
  if (at == At::Metadata)
    return !metadata.count(text) ||
           fail("'" + text + "' comes twice in the metadata");
  if (text != "dtype" && text != "shape" && text != "data_offsets")
    return fail("tensor '" + name + "' has the unknown key '" + text + "'");
  return entries.back().fields.insert(text).second ||
         fail("tensor '" + name + "' has '" + text + "' twice");
}

bool HeaderListener::parse_error(size_t position, const std::string &,
                                 const nlohmann::detail::exception &) {
  return fail("the header is not JSON at byte " + std::to_string(position));
}

/// Number of bytes of a tensor, or nothing if that overflows.
static std::optional<int64_t> countBytes(const TensorView &view) {
  int64_t bytes = getByteSize(view.type);
  for (int64_t size : view.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

/// Checks an entry against its own shape and the end of the one before it.
static Error checkEntry(const HeaderListener::Entry &entry, int64_t expected,
                        int64_t dataBytes) {
  const TensorView &view = entry.view;
  const char *name = view.name.c_str();
  long long begin = entry.offsets[0], end = entry.offsets[1];
  if (begin > end || end > dataBytes)
    return makeError("tensor '%s' is at [%lld, %lld) of %lld bytes of data",
                     name, begin, end, static_cast<long long>(dataBytes));
  std::optional<int64_t> bytes = countBytes(view);
  if (!bytes || *bytes != end - begin)
    return makeError("tensor '%s' has %lld bytes; expected those of %s %s",
                     name, end - begin, getSafeTensorsName(view.type),
                     formatShape(view.shape).c_str());
  if (begin != expected)
    return makeError("the data of tensor '%s' begins at %lld; expected %lld, "
                     "without overlaps and holes",
                     name, begin, static_cast<long long>(expected));
  return Error::success();
}

Expected<SafeTensorsHeader>
dist::io::parseSafeTensorsHeader(std::string_view text, int64_t dataBytes) {
  HeaderListener listener;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &listener))
    return Error::failure(listener.problem);
  auto &entries = listener.entries;
  std::sort(entries.begin(), entries.end(), [](auto &a, auto &b) {
    return std::tie(a.offsets, a.view.name) < std::tie(b.offsets, b.view.name);
  });
  SafeTensorsHeader header;
  int64_t end = 0;
  for (HeaderListener::Entry &entry : entries) {
    if (Error error = checkEntry(entry, end, dataBytes))
      return error;
    end = entry.offsets[1];
    entry.view.bytes = end - entry.offsets[0];
    header.tensors.push_back(std::move(entry.view));
  }
  if (end != dataBytes)
    return makeError("%lld bytes of data; expected the %lld of the tensors",
                     static_cast<long long>(dataBytes),
                     static_cast<long long>(end));
  header.metadata = std::move(listener.metadata);
  return header;
}

std::string dist::io::quoteJson(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    char escape[8];
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      quoted += escape;
    } else
      quoted += c;
  }
  return quoted + '"';
}

std::string
dist::io::formatSafeTensorsHeader(const std::vector<TensorSpec> &tensors,
                                  const Metadata &metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (auto &[key, value] : metadata)
      text += quoteJson(key) + ":" + quoteJson(value) + ",";
    text.back() = '}';
  }
  int64_t begin = 0;
  for (const TensorSpec &tensor : tensors) {
    int64_t end = begin + tensor.getByteSize();
    text += text.size() == 1 ? "" : ",";
    text += quoteJson(tensor.name) + ":{\"dtype\":\"" +
            getSafeTensorsName(tensor.type) + "\",\"shape\":[";
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      text += (d ? "," : "") + std::to_string(tensor.shape[d]);
    text += "],\"data_offsets\":[" + std::to_string(begin) + "," +
            std::to_string(end) + "]}";
    begin = end;
  }
  return text + "}";
}
