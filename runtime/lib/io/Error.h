//===- Error.h - Failures as values -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing in this room throws: what can fail returns an Error or an Expected. A
// message is one line, what is and what was expected, without a final period.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_ERROR_H
#define DIST_RUNTIME_IO_ERROR_H

#include <cassert>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>

namespace dist::io {

/// Success, or a failure with its message. True means failure, as llvm::Error.
class [[nodiscard]] Error {
public:
  static Error success() { return Error(); }
  static Error failure(std::string message) {
    Error error;
    error.failed = true;
    error.text = std::move(message);
    return error;
  }

  explicit operator bool() const { return failed; }
  const std::string &message() const { return text; }

private:
  Error() = default;

  bool failed = false;
  std::string text;
};

/// A failure whose message is formatted as printf does.
[[gnu::format(printf, 1, 2)]] inline Error makeError(const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  std::string text(std::vsnprintf(nullptr, 0, format, args) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, again);
  text.pop_back();
  va_end(again);
  va_end(args);
  return Error::failure(std::move(text));
}

/// A value, or the failure to get it. True means success, as llvm::Expected.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content(std::in_place_index<1>, std::move(error)) {
    assert(std::get<1>(content) && "success without a value");
  }

  explicit operator bool() const { return content.index() == 0; }
  T &operator*() { return std::get<0>(content); }
  const T &operator*() const { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }

  /// The failure; success if there is a value.
  Error takeError() {
    return *this ? Error::success() : std::move(std::get<1>(content));
  }

private:
  std::variant<T, Error> content;
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_ERROR_H
