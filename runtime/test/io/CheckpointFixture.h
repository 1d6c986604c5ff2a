//===- CheckpointFixture.h - A small checkpoint to save and read -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_IO_CHECKPOINTFIXTURE_H
#define DIST_RUNTIME_TEST_IO_CHECKPOINTFIXTURE_H

#include "Expect.h"
#include "TempFolder.h"
#include "io/Checkpoint.h"

#include <cstring>

/// Two parameters with optimizer state.
inline std::vector<dist::io::TensorSpec> makeSpecs() {
  using dist::io::ElementType;
  return {{"w", ElementType::F32, {4, 8}},   {"m:w", ElementType::F32, {4, 8}},
          {"v:w", ElementType::F32, {4, 8}}, {"b", ElementType::F32, {8}},
          {"m:b", ElementType::F32, {8}},    {"v:b", ElementType::F32, {8}}};
}

/// Element k of tensor i is 100 i + k + base.
inline dist::io::TensorSource
makeSource(const std::vector<dist::io::TensorSpec> &specs, float base) {
  return [&specs, base](size_t index, void *to) {
    for (int64_t k = 0; k < specs[index].getNumElements(); ++k)
      static_cast<float *>(to)[k] = 100.0f * index + k + base;
    return dist::io::Error::success();
  };
}

/// Expects that `folder` holds what `makeSource(specs, base)` wrote at `step`.
inline void expectCheckpoint(const std::string &folder, float base,
                             int64_t step) {
  std::vector<dist::io::TensorSpec> specs = makeSpecs();
  auto checkpoint = dist::io::Checkpoint::open(folder);
  ASSERT_TRUE(checkpoint) << messageOf(checkpoint.takeError());
  ASSERT_SUCCESS(checkpoint->check(specs, false));
  auto state = checkpoint->getState();
  ASSERT_TRUE(state) << messageOf(state.takeError());
  EXPECT_EQ(state->step, step);
  std::vector<float> expected(32);
  for (size_t i = 0; i < specs.size(); ++i) {
    ASSERT_SUCCESS(makeSource(specs, base)(i, expected.data()));
    const dist::io::TensorView *view = checkpoint->lookup(specs[i].name);
    ASSERT_TRUE(view);
    EXPECT_EQ(std::memcmp(view->data, expected.data(), view->bytes), 0);
  }
}

#endif // DIST_RUNTIME_TEST_IO_CHECKPOINTFIXTURE_H
