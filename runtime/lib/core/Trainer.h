//===- Trainer.h - The loop over the steps ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_TRAINER_H
#define DIST_RUNTIME_CORE_TRAINER_H

#include "core/Interrupts.h"
#include "core/Options.h"
#include "core/Player.h"
#include "io/Checkpoint.h"
#include "io/Log.h"
#include "io/LrSchedule.h"

namespace dist {

/// One run of a program: from the initial or a loaded state up to a step. The
/// ranks' arenas are allocated already.
class Trainer {
public:
  Trainer(const dist_program &program, const Manifest &manifest,
          const Options &options, Backend &backend);

  /// Everything that can be refused before the first step: state, inputs,
  /// schedule, the files to write.
  io::Error prepare();

  /// Plays the steps that are left and writes what was asked for. An error is
  /// the input's fault; a failed rank is in the backend and in the status.
  io::Expected<ExitStatus> train(Interrupts &interrupts);

  /// True if ranks are still at work after a failure: the process must end.
  bool isAbandoned() const { return player.isAbandoned(); }

private:
  io::Error loadState();
  io::Error openFeeds();
  io::Error openFiles();
  io::Error checkForm() const;

  io::Expected<ExitStatus> trainStep();
  bool playStep();
  io::Expected<bool> evaluate();
  io::Error evaluateAlone();
  void writeScalars(double lr);
  void readResults(int64_t nanoseconds);
  bool isDue(int64_t every) const;
  bool haveEqualReplicas() const;
  io::Expected<ExitStatus> writeResults(ExitStatus status);
  io::Error save();
  io::Error dump();

  const Manifest &manifest;
  const Options &options;
  std::vector<dist_rank *> ranks;
  TensorStore store;
  Player player;

  const TensorInfo *loss, *evalLoss, *norm, *key, *lr, *stepCounter;
  std::vector<const TensorInfo *> metrics;
  std::vector<double> metricValues;

  io::TrainState state;
  int64_t lastStep = 0;
  bool played = false;    ///< a step, so there is a loss
  bool nonFinite = false; ///< the last loss or norm
  std::optional<Feed> feed, evalFeed;
  std::optional<io::LrSchedule> schedule;
  std::optional<GradientTap> tap;
  std::optional<io::Log> log;
  std::optional<io::Progress> progress;
  io::StepRecord record;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_TRAINER_H
