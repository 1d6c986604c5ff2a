//===- MeanProgram.cpp - Means of tokens and targets ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeanProgram.h"

using nlohmann::json;

static constexpr int64_t kBatch = MeanProgram::kBatch, kSeq = MeanProgram::kSeq;

/// (values, mean): the mean of this rank's part of the batch.
template <int64_t ranks>
static void meanOf(dist_rank *rank, char *arena, const int64_t *offsets) {
  const auto *values = HandProgram::at<int32_t>(arena, offsets[0]);
  auto *mean = HandProgram::at<double>(arena, offsets[1]);
  if (MeanProgram::hook)
    MeanProgram::hook(rank);
  *mean = 0;
  for (int64_t i = 0; i < kBatch / ranks * kSeq; ++i)
    *mean += static_cast<double>(values[i]) / (kBatch * kSeq);
}

static json describe(int64_t ranks) {
  constexpr int64_t tokens = 0, targets = 64, loss = 128, evalLoss = 192;
  auto actions = [](int64_t from, int64_t to) -> json {
    return {{{"run", 0}, {"at", {from, to}}},
            {{"collective", "all_reduce"},
             {"comm", 0},
             {"monoid", "sum"},
             {"dtype", "f64"},
             {"at", json::array({to})},
             {"counts", json::array({1})},
             {"op", "mean"}}};
  };
  return {
      {"mesh", json::array({json::array({"dp", ranks})})},
      {"arena_bytes", 256},
      {"batch", kBatch},
      {"seq", kSeq},
      {"vocab", MeanProgram::kVocab},
      {"communicators", {{{"axes", {"dp"}}}}},
      {"tensors",
       {HandProgram::tensor("tokens", "input", "i32", {kBatch, kSeq}, tokens,
                            true),
        HandProgram::tensor("targets", "input", "i32", {kBatch, kSeq}, targets,
                            true),
        HandProgram::tensor("loss", "loss", "f64", {}, loss),
        HandProgram::tensor("eval_loss", "eval_loss", "f64", {}, evalLoss)}},
      {"step", actions(targets, loss)},
      {"eval", actions(tokens, evalLoss)}};
}

MeanProgram::MeanProgram(int64_t ranks)
    : HandProgram(describe(ranks), {ranks == 1 ? meanOf<1> : meanOf<2>}) {}
