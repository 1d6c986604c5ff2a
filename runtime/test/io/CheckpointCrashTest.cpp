//===- CheckpointCrashTest.cpp - Full disks and crashes while saving ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointFixture.h"
#include "io/Checkpoint.h"

#include <csignal>
#include <functional>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dist::io;

namespace fs = std::filesystem;

static Error save(const std::string &path, float base, int64_t step,
                  const SaveOptions &options = {}) {
  std::vector<TensorSpec> specs = makeSpecs();
  return saveCheckpoint(path, {step, 0, 0}, specs, makeSource(specs, base),
                        options);
}

static constexpr int kSkip = 77;

/// Runs `body` in a process of its own; returns its exit status or -signal.
static int runApart(const std::function<int()> &body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// 0 if saving fails with this reason in its message, else 1.
static int failsWith(const std::string &path, const char *reason,
                     const SaveOptions &options = {}) {
  Error error = save(path, 5, 8, options);
  if (error && error.message().find(reason) != std::string::npos)
    return 0;
  std::fprintf(stderr, "%s\n", messageOf(error).c_str());
  return 1;
}

// A limit anywhere in the shard.
TEST(CheckpointCrash, FileSizeLimit) {
  for (rlim_t limit : {0, 4, 100, 600, 900}) {
    TempFolder folder;
    ASSERT_SUCCESS(save(folder / "c", 0, 7));
    EXPECT_EQ(runApart([&] {
                std::signal(SIGXFSZ, SIG_IGN);
                struct rlimit small = {limit, limit};
                ::setrlimit(RLIMIT_FSIZE, &small);
                return failsWith(folder / "c", "File too large");
              }),
              0);
    expectCheckpoint(folder / "c", 0, 7);
    EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
  }
}

// Shards of one tensor are below this limit, their index is above.
TEST(CheckpointCrash, FileSizeLimitOfTheIndex) {
  TempFolder folder;
  ASSERT_SUCCESS(save(folder / "c", 0, 7));
  EXPECT_EQ(runApart([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              struct rlimit small = {320, 320};
              ::setrlimit(RLIMIT_FSIZE, &small);
              return failsWith(folder / "c", "index.json': File too large",
                               {1});
            }),
            0);
  expectCheckpoint(folder / "c", 0, 7);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}

TEST(CheckpointCrash, FileSizeLimitOfTheFirstSave) {
  TempFolder folder;
  EXPECT_EQ(runApart([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              struct rlimit small = {100, 100};
              ::setrlimit(RLIMIT_FSIZE, &small);
              return failsWith(folder / "c", "File too large");
            }),
            0);
  EXPECT_EQ(folder.list(), std::vector<std::string>());
}

// Needs the right to mount; elsewhere it is skipped.
TEST(CheckpointCrash, FullDisk) {
  TempFolder folder;
  int status = runApart([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.root.c_str(), "tmpfs", 0, "size=64k") != 0)
      return kSkip;
    if (save(folder / "c", 0, 7))
      return 2;
    std::string filler(4096, 'x');
    std::ofstream full(folder / "full");
    while (full << filler << std::flush)
      ;
    full.close();
    if (failsWith(folder / "c", "No space left on device") != 0)
      return 3;
    expectCheckpoint(folder / "c", 0, 7);
    bool clean = folder.list() == std::vector<std::string>{"c", "full"};
    fs::remove(folder / "full");
    return save(folder / "c", 5, 8) || !clean || testing::Test::HasFailure()
               ? 4
               : 0;
  });
  if (status == kSkip)
    GTEST_SKIP() << "cannot mount a small file system";
  EXPECT_EQ(status, 0);
}

// Killed at each tensor: what stays is the old checkpoint, and the next save
// takes away what the dead one left.
TEST(CheckpointCrash, KilledWhileSaving) {
  std::vector<TensorSpec> specs = makeSpecs();
  for (size_t last = 0; last < specs.size(); ++last) {
    TempFolder folder;
    ASSERT_SUCCESS(save(folder / "c", 0, 7));
    TensorSource source = makeSource(specs, 5);
    EXPECT_EQ(runApart([&] {
                auto killing = [&](size_t index, void *to) {
                  if (index == last)
                    ::raise(SIGKILL);
                  return source(index, to);
                };
                return saveCheckpoint(folder / "c", {8, 0, 0}, specs, killing,
                                      {160})
                           ? 1
                           : 2;
              }),
              -SIGKILL);
    expectCheckpoint(folder / "c", 0, 7);
    ASSERT_SUCCESS(save(folder / "c", 9, 9));
    expectCheckpoint(folder / "c", 9, 9);
    EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
  }
}

TEST(CheckpointCrash, FailingSource) {
  TempFolder folder;
  ASSERT_SUCCESS(save(folder / "c", 0, 7));
  auto failing = [](size_t index, void *) {
    return index < 3 ? Error::success() : makeError("rank 1 is lost");
  };
  EXPECT_MESSAGE(
      saveCheckpoint(folder / "c", {8, 0, 0}, makeSpecs(), failing, {160}),
      "rank 1 is lost");
  expectCheckpoint(folder / "c", 0, 7);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}

// Where two names cannot be exchanged, a crash may come between two renames.
TEST(CheckpointCrash, BetweenTwoRenames) {
  TempFolder folder;
  ASSERT_SUCCESS(save(folder / "c", 0, 7));
  folder.write("c/note", "mine");
  fs::rename(folder / "c", folder / "c.dist-previous");
  expectCheckpoint(folder / "c", 0, 7);
  expectCheckpoint(folder / "c/", 0, 7);
  ASSERT_SUCCESS(save(folder / "c", 5, 8));
  expectCheckpoint(folder / "c", 5, 8);
  EXPECT_EQ(TempFolder::read(folder / "c/note"), "mine");
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}

// ... or after both, before the older one is gone.
TEST(CheckpointCrash, AfterTwoRenames) {
  TempFolder folder;
  ASSERT_SUCCESS(save(folder / "c.dist-previous", 0, 7));
  folder.write("c.dist-previous/note", "mine");
  ASSERT_SUCCESS(save(folder / "c", 5, 8));
  fs::remove_all(folder / "c.dist-partial");
  ASSERT_SUCCESS(save(folder / "c", 6, 9));
  expectCheckpoint(folder / "c", 6, 9);
  EXPECT_EQ(TempFolder::read(folder / "c/note"), "mine");
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}

TEST(CheckpointCrash, MountPoint) {
  TempFolder folder;
  fs::create_directory(folder / "c");
  int status = runApart([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", (folder / "c").c_str(), "tmpfs", 0, "size=64k") != 0)
      return kSkip;
    return failsWith(folder / "c", "is a mount point");
  });
  if (status == kSkip)
    GTEST_SKIP() << "cannot mount a small file system";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}
