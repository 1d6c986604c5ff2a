//===- TinyProgram.cpp - Least squares, data parallel ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyProgram.h"

#include <algorithm>
#include <cmath>

using nlohmann::json;

TinyHook tinyHook;

static constexpr int64_t kColumns = TinyProgram::kColumns;

/// (x, y, w, step, loss, grad): this rank's part of loss and gradient.
template <int64_t ranks>
static void forwardBackward(dist_rank *rank, char *arena,
                            const int64_t *offsets) {
  const auto *x = HandProgram::at<float>(arena, offsets[0]);
  const auto *y = HandProgram::at<float>(arena, offsets[1]);
  const auto *w = HandProgram::at<float>(arena, offsets[2]);
  if (tinyHook.body)
    tinyHook.body(rank, *HandProgram::at<int64_t>(arena, offsets[3]));
  dist_mark(rank, "loop", "errors");
  auto *loss = HandProgram::at<float>(arena, offsets[4]);
  auto *grad = HandProgram::at<float>(arena, offsets[5]);
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
  const auto *grad = HandProgram::at<float>(arena, offsets[0]);
  auto *w = HandProgram::at<float>(arena, offsets[1]);
  float lr = *HandProgram::at<float>(arena, offsets[2]), squares = 0;
  auto *m = HandProgram::at<float>(arena, offsets[3]);
  for (int64_t j = 0; j < kColumns; ++j)
    squares += grad[j] * grad[j];
  *HandProgram::at<float>(arena, offsets[4]) = std::sqrt(squares);
  if (!std::isfinite(squares))
    return;
  for (int64_t j = 0; j < kColumns; ++j)
    w[j] -= lr * grad[j];
  int64_t share = (kColumns + ranks - 1) / ranks;
  int64_t first = dist_axis_index(rank, 0) * share;
  for (int64_t j = 0; j < share && first + j < kColumns; ++j)
    m[j] += grad[first + j];
}

static json describe(int64_t ranks, int64_t threads) {
  constexpr int64_t x = 0, y = 64, w = TinyProgram::kParameterOffset, m = 192,
                    lr = 256, step = 320, loss = 384, grad = 448, norm = 512,
                    key = 576;
  json w0 = HandProgram::tensor("w", "param", "f32", {kColumns}, w);
  w0["init"] = "normal 0.5";
  json hook = HandProgram::tensor("w", "", "f32", {kColumns}, grad);
  hook["hook"] = "grad";
  hook["at"] = {grad};
  json document = {
      {"name", "tiny"},
      {"mesh", json::array({json::array({"dp", ranks})})},
      {"threads", threads},
      {"arena_bytes", 640},
      {"optimizer", {{"name", "sgd"}, {"lr", 0.1}}},
      {"communicators", {{{"axes", {"dp"}}}}},
      {"tensors",
       {HandProgram::tensor("x", "input", "f32", {TinyProgram::kRows, kColumns},
                            x, true),
        HandProgram::tensor("y", "input", "f32", {TinyProgram::kRows}, y, true),
        w0, HandProgram::tensor("m:w", "state", "f32", {kColumns}, m, true),
        HandProgram::tensor("lr", "lr", "f32", {}, lr),
        HandProgram::tensor("step", "step", "i64", {}, step),
        HandProgram::tensor("loss", "loss", "f32", {}, loss),
        HandProgram::tensor("grad_norm", "norm", "f32", {}, norm),
        HandProgram::tensor("squares", "metric", "f32", {}, loss),
        HandProgram::tensor("key", "key", "i32", {2}, key)}},
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
  return document;
}

static std::vector<dist_segment> getSegments(int64_t ranks) {
  if (ranks == 1)
    return {forwardBackward<1>, update<1>};
  if (ranks == 2)
    return {forwardBackward<2>, update<2>};
  return {forwardBackward<4>, update<4>};
}

TinyProgram::TinyProgram(int64_t ranks, int64_t threads)
    : HandProgram(describe(ranks, threads), getSegments(ranks)) {}
