//===- Json.cpp - Reading a JSON document with clear errors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Json.h"

using namespace dist;

static const nlohmann::json kNull;

std::string JsonValue::describe() const {
  std::string text =
      json->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

void JsonValue::fail(const std::string &message) const {
  if (!*error)
    *error =
        io::Error::failure(path + (message[0] == ':' ? "" : " ") + message);
}

bool JsonValue::has(const char *key) const {
  return json->is_object() && json->contains(key);
}

JsonValue JsonValue::operator[](const char *key) const {
  std::string childPath = path + "." + key;
  if (has(key))
    return JsonValue(json->at(key), std::move(childPath), *error);
  if (!json->is_object())
    fail("is " + describe() + ", expected an object");
  else
    fail("has no '" + std::string(key) + "'");
  return JsonValue(kNull, std::move(childPath), *error);
}

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> result;
  if (!json->is_array()) {
    fail("is " + describe() + ", expected an array");
    return result;
  }
  for (const nlohmann::json &item : *json)
    result.emplace_back(item, path + "[" + std::to_string(result.size()) + "]",
                        *error);
  return result;
}

int64_t JsonValue::asInt(int64_t min, int64_t max) const {
  bool fits =
      json->is_number_integer() &&
      (!json->is_number_unsigned() ||
       json->get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
  int64_t number = fits ? json->get<int64_t>() : 0;
  if (fits && number >= min && number <= max)
    return number;
  fail("is " + describe() + ", expected an integer from " +
       std::to_string(min) + " to " + std::to_string(max));
  return 0;
}

double JsonValue::asDouble() const {
  if (json->is_number())
    return json->get<double>();
  fail("is " + describe() + ", expected a number");
  return 0;
}

bool JsonValue::asBool() const {
  if (json->is_boolean())
    return json->get<bool>();
  fail("is " + describe() + ", expected true or false");
  return false;
}

std::string JsonValue::asString() const {
  if (json->is_string())
    return json->get<std::string>();
  fail("is " + describe() + ", expected a string");
  return "";
}

std::vector<int64_t> JsonValue::asInts(int64_t min, int64_t max) const {
  std::vector<int64_t> result;
  for (const JsonValue &item : items())
    result.push_back(item.asInt(min, max));
  return result;
}

std::vector<std::string> JsonValue::asStrings() const {
  std::vector<std::string> result;
  for (const JsonValue &item : items())
    result.push_back(item.asString());
  return result;
}
