//===- HandProgram.cpp - A compiled program written by hand ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandProgram.h"

#include <gtest/gtest.h>

using nlohmann::json;

HandProgram::HandProgram(const json &document,
                         std::vector<dist_segment> functions)
    : manifest(document.dump()), segments(std::move(functions)) {
  program = {DIST_ABI_VERSION, static_cast<uint32_t>(segments.size()),
             manifest.data(), manifest.size(), segments.data()};
}

json HandProgram::tensor(const char *name, const char *role, const char *dtype,
                         std::vector<int64_t> shape, int64_t offset,
                         bool split) {
  json axes = json::array();
  for (size_t i = 0; i < shape.size(); ++i)
    axes.push_back(split && i == 0 ? json::array({"dp"}) : json::array());
  return {{"name", name},  {"role", role}, {"dtype", dtype},  {"shape", shape},
          {"dims", shape}, {"axes", axes}, {"offset", offset}};
}

int HandProgram::run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "train");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int status = dist_main(&program, static_cast<int>(argv.size()), argv.data());
  output = testing::internal::GetCapturedStdout();
  errors = testing::internal::GetCapturedStderr();
  return status;
}
