//===- Json.h - Reading a JSON document with clear errors -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_JSON_H
#define DIST_RUNTIME_CORE_JSON_H

#include "io/Error.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dist {

/// A value of a document with its path in it (`tensors[3].shape`). The first
/// thing that is not as expected goes to the reader's error, and the value that
/// was asked for is an empty one; so a reader asks on and checks once.
class JsonValue {
public:
  JsonValue(const nlohmann::json &json, std::string path, io::Error &error)
      : json(&json), path(std::move(path)), error(&error) {}

  bool has(const char *key) const;
  JsonValue operator[](const char *key) const; ///< an error if missing
  std::vector<JsonValue> items() const;        ///< of an array

  int64_t asInt(int64_t min = std::numeric_limits<int64_t>::min(),
                int64_t max = std::numeric_limits<int64_t>::max()) const;
  double asDouble() const;
  bool asBool() const;
  std::string asString() const;
  std::vector<int64_t>
  asInts(int64_t min = std::numeric_limits<int64_t>::min(),
         int64_t max = std::numeric_limits<int64_t>::max()) const;
  std::vector<std::string> asStrings() const;

  /// Records that this value is wrong: `PATH MESSAGE`, or `PATH: REASON` of a
  /// message that begins with the colon.
  void fail(const std::string &message) const;

private:
  std::string describe() const;

  const nlohmann::json *json;
  std::string path;
  io::Error *error;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_JSON_H
