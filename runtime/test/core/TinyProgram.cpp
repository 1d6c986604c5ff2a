//===- TinyProgram.cpp - A compiled program written by hand ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyProgram.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using nlohmann::json;

TinyHook tinyHook;

static constexpr int64_t kColumns = TinyProgram::kColumns;

template <typename T>
static T *at(char *arena, int64_t offset) {
  return reinterpret_cast<T *>(arena + offset);
}

/// (x, y, w, step, loss, grad): this rank's part of loss and gradient.
template <int64_t ranks>
static void forwardBackward(dist_rank *rank, char *arena,
                            const int64_t *offsets) {
  const auto *x = at<float>(arena, offsets[0]);
  const auto *y = at<float>(arena, offsets[1]);
  const auto *w = at<float>(arena, offsets[2]);
  if (tinyHook.body)
    tinyHook.body(rank, *at<int64_t>(arena, offsets[3]));
  auto *loss = at<float>(arena, offsets[4]);
  auto *grad = at<float>(arena, offsets[5]);
  // Padding is zero, so the rows past the end add nothing.
  int64_t rows = (TinyProgram::kRows + ranks - 1) / ranks;
  *loss = 0;
  std::fill(grad, grad + kColumns, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    float error = -y[i];
    for (int64_t j = 0; j < kColumns; ++j)
      error += x[i * kColumns + j] * w[j];
    *loss += error * error / TinyProgram::kRows;
    for (int64_t j = 0; j < kColumns; ++j)
      grad[j] += 2 * error * x[i * kColumns + j] / TinyProgram::kRows;
  }
}

/// (grad, w, lr, m, norm)
template <int64_t ranks>
static void update(dist_rank *rank, char *arena, const int64_t *offsets) {
  const auto *grad = at<float>(arena, offsets[0]);
  auto *w = at<float>(arena, offsets[1]);
  float lr = *at<float>(arena, offsets[2]), squares = 0;
  auto *m = at<float>(arena, offsets[3]);
  for (int64_t j = 0; j < kColumns; ++j)
    squares += grad[j] * grad[j];
  *at<float>(arena, offsets[4]) = std::sqrt(squares);
  if (!std::isfinite(squares))
    return;
  for (int64_t j = 0; j < kColumns; ++j)
    w[j] -= lr * grad[j];
  int64_t share = (kColumns + ranks - 1) / ranks;
  int64_t first = dist_axis_index(rank, 0) * share;
  for (int64_t j = 0; j < share && first + j < kColumns; ++j)
    m[j] += grad[first + j];
}

static json tensor(const char *name, const char *role, const char *dtype,
                   std::vector<int64_t> shape, int64_t offset,
                   bool split = false) {
  json axes = json::array();
  for (size_t i = 0; i < shape.size(); ++i)
    axes.push_back(split && i == 0 ? json::array({"dp"}) : json::array());
  return {{"name", name},  {"role", role}, {"dtype", dtype},  {"shape", shape},
          {"dims", shape}, {"axes", axes}, {"offset", offset}};
}

TinyProgram::TinyProgram(int64_t ranks) {
  constexpr int64_t x = 0, y = 64, w = 128, m = 192, lr = 256, step = 320,
                    loss = 384, grad = 448, norm = 512, key = 576;
  json w0 = tensor("w", "param", "f32", {kColumns}, w);
  w0["init"] = "normal 0.5";
  json hook = tensor("w", "", "f32", {kColumns}, grad);
  hook["hook"] = "grad";
  hook["at"] = {grad};
  json document = {{"name", "tiny"},
                   {"mesh", json::array({json::array({"dp", ranks})})},
                   {"threads", 1},
                   {"arena_bytes", 640},
                   {"optimizer", {{"name", "sgd"}, {"lr", 0.1}}},
                   {"communicators", {{{"axes", {"dp"}}}}},
                   {"tensors",
                    {tensor("x", "input", "f32", {kRows, kColumns}, x, true),
                     tensor("y", "input", "f32", {kRows}, y, true), w0,
                     tensor("m:w", "state", "f32", {kColumns}, m, true),
                     tensor("lr", "lr", "f32", {}, lr),
                     tensor("step", "step", "i64", {}, step),
                     tensor("loss", "loss", "f32", {}, loss),
                     tensor("grad_norm", "norm", "f32", {}, norm),
                     tensor("squares", "metric", "f32", {}, loss),
                     tensor("key", "key", "i32", {2}, key)}},
                   {"step",
                    {{{"run", 0}, {"at", {x, y, w, step, loss, grad}}},
                     {{"collective", "all_reduce"},
                      {"comm", 0},
                      {"monoid", "sum"},
                      {"dtype", "f32"},
                      {"at", {loss, grad}},
                      {"counts", {1, kColumns}},
                      {"op", "grads"}},
                     hook,
                     {{"run", 1}, {"at", {grad, w, lr, m, norm}}}}}};
  manifest = document.dump();
  if (ranks == 1)
    segments = {forwardBackward<1>, update<1>};
  else if (ranks == 2)
    segments = {forwardBackward<2>, update<2>};
  else
    segments = {forwardBackward<4>, update<4>};
  program = {DIST_ABI_VERSION, 2, manifest.data(), manifest.size(),
             segments.data()};
}

int TinyProgram::run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tiny");
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
