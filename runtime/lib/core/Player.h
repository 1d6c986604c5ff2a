//===- Player.h - Plays the actions of a program ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_PLAYER_H
#define DIST_RUNTIME_CORE_PLAYER_H

#include "core/Feed.h"
#include "core/GradientTap.h"

namespace dist {

/// What the ranks do between two moments of the main thread.
struct Scene {
  const Feed *feed = nullptr; ///< inputs to copy first
  std::span<const std::vector<Action> *const> lists;
  GradientTap *tap = nullptr; ///< null: hooks do nothing
  int64_t step = 0;
};

class Player {
public:
  Player(const dist_program &program, Backend &backend)
      : program(program), backend(backend) {}

  /// Plays `scene` on every rank. False if the run has failed; `isAbandoned`
  /// then says whether ranks are still at it.
  bool play(const Scene &scene);

  bool isAbandoned() const { return abandoned; }

private:
  void play(dist_rank &rank, const Scene &scene) const;
  void run(dist_rank &rank, const RunAction &action) const;

  const dist_program &program;
  Backend &backend;
  bool abandoned = false;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_PLAYER_H
