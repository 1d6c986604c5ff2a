//===- Expect.h - Expectations about errors ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_IO_EXPECT_H
#define DIST_RUNTIME_TEST_IO_EXPECT_H

#include "io/Error.h"

#include <gtest/gtest.h>
#include <string>

/// The message of a failure, or of an unexpected success.
inline std::string messageOf(const dist::io::Error &error) {
  return error ? error.message() : "(success)";
}
template <typename T>
std::string messageOf(dist::io::Expected<T> expected) {
  return messageOf(expected.takeError());
}

#define EXPECT_MESSAGE(value, part)                                            \
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, messageOf(value))
#define EXPECT_SUCCESS(value) EXPECT_EQ(messageOf(value), "(success)")
#define ASSERT_SUCCESS(value) ASSERT_EQ(messageOf(value), "(success)")

#endif // DIST_RUNTIME_TEST_IO_EXPECT_H
