//===- Error.h - What ends a run before or between steps --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_ERROR_H
#define DIST_RUNTIME_CORE_ERROR_H

#include <sstream>
#include <stdexcept>

namespace dist {

/// Wrong usage or input: one line that says what is and what was expected,
/// lower case, no period. `dist_main` prints it as `error: ...` and returns 1.
/// Never thrown while a segment is on the stack.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Throws an Error made of `parts`, as operator<< prints them.
template <typename... Parts>
[[noreturn]] void throwError(const Parts &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

} // namespace dist

#endif // DIST_RUNTIME_CORE_ERROR_H
