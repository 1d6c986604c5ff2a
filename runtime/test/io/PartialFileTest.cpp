//===- PartialFileTest.cpp - Replacing a file at once ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/PartialFile.h"
#include "Expect.h"
#include "TempFolder.h"

using namespace dist::io;

namespace fs = std::filesystem;

static void fill(const PartialFile &partial) {
  std::ofstream(partial.getPath(), std::ios::binary) << "new";
}

TEST(PartialFile, ReplacesOnCommitAlone) {
  TempFolder folder;
  for (bool isCommitted : {false, true}) {
    folder.write("x", "old");
    {
      Expected<PartialFile> partial = PartialFile::create(folder / "x");
      ASSERT_TRUE(partial);
      fill(*partial);
      EXPECT_EQ(TempFolder::read(folder / "x"), "old");
      if (isCommitted)
        ASSERT_SUCCESS(partial->commit());
    }
    EXPECT_EQ(TempFolder::read(folder / "x"), isCommitted ? "new" : "old");
    EXPECT_EQ(folder.list(), std::vector<std::string>{"x"});
  }
}

TEST(PartialFile, WritesThroughLinks) {
  TempFolder folder;
  fs::create_directory(folder / "d");
  folder.write("d/x", "old");
  fs::create_symlink("d/x", folder / "link");
  Expected<PartialFile> partial = PartialFile::create(folder / "link");
  ASSERT_TRUE(partial);
  fill(*partial);
  ASSERT_SUCCESS(partial->commit());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(TempFolder::read(folder / "d/x"), "new");
}

TEST(PartialFile, LeavesDevicesInPlace) {
  Expected<PartialFile> partial = PartialFile::create("/dev/null");
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->getPath(), "/dev/null");
  ASSERT_SUCCESS(partial->commit());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// What a run that was killed left is written over.
TEST(PartialFile, TakesOverWhatACrashLeft) {
  TempFolder folder;
  folder.write("x.dist-partial", "half of something long");
  Expected<PartialFile> partial = PartialFile::create(folder / "x");
  ASSERT_TRUE(partial);
  fill(*partial);
  ASSERT_SUCCESS(partial->commit());
  EXPECT_EQ(TempFolder::read(folder / "x"), "new");
}

TEST(PartialFile, Errors) {
  TempFolder folder;
  EXPECT_MESSAGE(PartialFile::create(folder.root),
                 "is a folder, expected a file");
  EXPECT_MESSAGE(PartialFile::create(folder / "no/x"),
                 "no/x': No such file or directory");
  Expected<PartialFile> first = PartialFile::create(folder / "x");
  ASSERT_TRUE(first);
  EXPECT_MESSAGE(PartialFile::create(folder / "x"),
                 "x': another run is writing it");
}
