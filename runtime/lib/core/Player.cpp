//===- Player.cpp - Plays the actions of a program ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Player.h"

#include "core/Landing.h"

#include <cstring>

using namespace dist;

void Player::run(dist_rank &rank, const RunAction &action) const {
  Operation operation{rank.step, "segment", action.op.c_str(), "",
                      action.segment};
  rank.history.begin(operation);
  int64_t begin = rank.trace ? now() : 0;
  program.segments[action.segment](&rank, rank.arena, action.at.data());
  if (rank.trace) {
    endMark(rank);
    rank.trace->add(operation, begin, now());
  }
}

/// The call of `action` on the arena of `rank`.
static CollectiveCall makeCall(dist_rank &rank,
                               const CollectiveAction &action) {
  CollectiveCall call{.kind = action.kind,
                      .comm = action.comm,
                      .monoid = action.monoid,
                      .dtype = action.dtype,
                      .root = action.root,
                      .numPairs = static_cast<int32_t>(action.pairs.size() / 2),
                      .pairs = action.pairs.data(),
                      .op = action.op.c_str()};
  if (action.kind == CollectiveKind::AllReduce) {
    for (size_t i = 0; i < action.at.size(); ++i)
      rank.buffers[i] = rank.arena + action.at[i];
    call.num = static_cast<int32_t>(action.at.size());
    call.buffers = rank.buffers.data();
    call.counts = action.counts.data();
    return call;
  }
  call.operand = rank.arena + action.at.front();
  call.result = rank.arena + action.at.back();
  call.count = action.counts.front();
  return call;
}

void Player::play(dist_rank &rank, const Scene &scene) const {
  for (const std::vector<Action> *list : scene.lists)
    for (const Action &action : *list) {
      if (const auto *segment = std::get_if<RunAction>(&action)) {
        run(rank, *segment);
      } else if (const auto *collective =
                     std::get_if<CollectiveAction>(&action)) {
        if (!runCollective(rank, makeCall(rank, *collective)))
          leave();
      } else if (const auto *copy = std::get_if<CopyAction>(&action)) {
        std::memcpy(rank.arena + copy->to, rank.arena + copy->from,
                    copy->bytes);
      } else if (scene.tap) {
        scene.tap->take(rank, std::get<HookAction>(action));
      }
      if (backend.hasFailed())
        leave();
    }
}

bool Player::play(const Scene &scene) {
  struct Context {
    const Player &player;
    const Scene &scene;
  } context{*this, scene};
  abandoned = !backend.runOnRanks(
      [](void *context, dist_rank &rank) {
        auto &[player, scene] = *static_cast<Context *>(context);
        rank.step = scene.step;
        rank.commNanoseconds = 0;
        if (scene.feed)
          scene.feed->deliver(rank);
        land([&] { player.play(rank, scene); });
      },
      &context);
  return !abandoned && !backend.hasFailed();
}
