//===- HandProgram.h - A compiled program written by hand -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_CORE_HANDPROGRAM_H
#define DIST_RUNTIME_TEST_CORE_HANDPROGRAM_H

#include "dist/runtime.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// A manifest and segments, as the compiler would emit them.
class HandProgram {
public:
  HandProgram(const nlohmann::json &document,
              std::vector<dist_segment> segments);
  HandProgram(const HandProgram &) = delete;

  /// Runs dist_main on `arguments`; `output` and `errors` get what it printed.
  int run(std::vector<std::string> arguments);

  /// An entry of `tensors`, on every rank whole or, if `split`, with its first
  /// dimension over `dp`.
  static nlohmann::json tensor(const char *name, const char *role,
                               const char *dtype, std::vector<int64_t> shape,
                               int64_t offset, bool split = false);

  /// What is at byte `offset` of `arena`.
  template <typename T>
  static T *at(char *arena, int64_t offset) {
    return reinterpret_cast<T *>(arena + offset);
  }

  dist_program program;
  std::string manifest, output, errors;
  std::vector<dist_segment> segments;
};

#endif // DIST_RUNTIME_TEST_CORE_HANDPROGRAM_H
