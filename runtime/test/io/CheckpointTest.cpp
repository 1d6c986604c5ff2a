//===- CheckpointTest.cpp - Checkpoints: layout, checks, hostile folders --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Checkpoint.h"
#include "CheckpointFixture.h"

#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

using namespace dist::io;

namespace fs = std::filesystem;

static constexpr TrainState kState = {7, ~uint64_t(0), 112};
static constexpr char kIndex[] = "model.safetensors.index.json";
static constexpr char kOnlyShard[] = "model-00001-of-00001.safetensors";

static void save(const std::string &path, float base = 0, int64_t step = 7,
                 int64_t shardBytes = 1 << 30) {
  std::vector<TensorSpec> specs = makeSpecs();
  TrainState state = kState;
  state.step = step;
  ASSERT_SUCCESS(saveCheckpoint(path, state, specs, makeSource(specs, base),
                                {shardBytes}));
}

TEST(Checkpoint, RoundTrip) {
  TempFolder folder;
  save(folder / "c");
  expectCheckpoint(folder / "c", 0, 7);
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder / "c/");
  ASSERT_TRUE(checkpoint);
  Expected<TrainState> state = checkpoint->getState();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->seed, kState.seed);
  EXPECT_EQ(state->dataPosition, kState.dataPosition);
  EXPECT_EQ(TempFolder::list(folder / "c"),
            (std::vector<std::string>{kOnlyShard, kIndex}));
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}

TEST(Checkpoint, ShardsWithHuggingFacesIndex) {
  TempFolder folder;
  // 128-byte matrices and 32-byte vectors: w | m:w | v:w b | m:b v:b.
  save(folder / "c", 0, 7, 160);
  expectCheckpoint(folder / "c", 0, 7);
  auto index = nlohmann::json::parse(TempFolder::read(folder / "c/" + kIndex));
  EXPECT_EQ(index["metadata"]["total_size"], 3 * (128 + 32));
  EXPECT_EQ(index["metadata"]["step"], 7);
  EXPECT_EQ(index["weight_map"]["w"], "model-00001-of-00004.safetensors");
  EXPECT_EQ(index["weight_map"]["b"], "model-00003-of-00004.safetensors");
  EXPECT_EQ(index["weight_map"]["v:b"], "model-00004-of-00004.safetensors");
  EXPECT_EQ(index["weight_map"].size(), 6u);
  Expected<SafeTensorsFile> shard =
      SafeTensorsFile::open(folder / "c/model-00001-of-00004.safetensors");
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->getMetadata(), (Metadata{{"data_position", "112"},
                                            {"format", "pt"},
                                            {"seed", "18446744073709551615"},
                                            {"step", "7"}}));
}

TEST(Checkpoint, OfNothing) {
  TempFolder folder;
  ASSERT_SUCCESS(saveCheckpoint(folder / "c", kState, {}, nullptr));
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder / "c");
  ASSERT_TRUE(checkpoint) << messageOf(checkpoint.takeError());
  EXPECT_SUCCESS(checkpoint->check({}, false));
  EXPECT_SUCCESS(checkpoint->getState());
}

TEST(Checkpoint, ReplacesAnOlderOne) {
  TempFolder folder;
  save(folder / "c", 0, 7, 1);
  save(folder / "c", 5, 8);
  expectCheckpoint(folder / "c", 5, 8);
  EXPECT_EQ(TempFolder::list(folder / "c").size(), 2u);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c"}));
}

// `--save run --log run/log.jsonl`, an older checkpoint inside, a note.
TEST(Checkpoint, KeepsFilesThatAreNotItsOwn) {
  TempFolder folder;
  fs::create_directory(folder / "c");
  folder.write("c/log.jsonl", "log");
  save(folder / "c/old", 1, 1);
  save(folder / "c");
  save(folder / "c", 5, 8);
  EXPECT_EQ(TempFolder::list(folder / "c"),
            (std::vector<std::string>{"log.jsonl", kOnlyShard, kIndex, "old"}));
  EXPECT_EQ(TempFolder::read(folder / "c/log.jsonl"), "log");
  expectCheckpoint(folder / "c", 5, 8);
  expectCheckpoint(folder / "c/old", 1, 1);
}

TEST(Checkpoint, CreatesParentsAndFollowsLinks) {
  TempFolder folder;
  save(folder / "a/b/c/");
  expectCheckpoint(folder / "a/b/c", 0, 7);
  fs::create_directory_symlink("a/b/c", folder / "link");
  save(folder / "link", 5, 8);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  expectCheckpoint(folder / "a/b/c", 5, 8);
}

TEST(Checkpoint, RelativeNames) {
  TempFolder folder;
  fs::path before = fs::current_path();
  fs::current_path(folder.root);
  for (const char *name : {"c", "./c", "c/", "d/e"}) {
    save(name);
    save(name, 5, 8);
    expectCheckpoint(name, 5, 8);
  }
  for (const char *path : {".", "./", "..", "x/.."})
    EXPECT_MESSAGE(checkSaveFolder(path),
                   "it is, or holds, the working folder");
  fs::current_path(before);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"c", "d"}));
}

TEST(Checkpoint, RefusesFoldersThatCannotBeReplaced) {
  TempFolder folder;
  EXPECT_MESSAGE(checkSaveFolder(folder.write("file", "")),
                 "file' cannot hold a checkpoint: it is not a folder");
  EXPECT_MESSAGE(checkSaveFolder(folder / "file/c"), "file/c'");
  EXPECT_MESSAGE(checkSaveFolder(""), "'' cannot hold a checkpoint");
  EXPECT_MESSAGE(checkSaveFolder("/"), "'/' cannot hold a checkpoint");
  EXPECT_MESSAGE(checkSaveFolder("/proc/c"), "/proc/c");
  EXPECT_SUCCESS(checkSaveFolder(folder / "c"));
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"file"}));
}

TEST(Checkpoint, OneRunAtATime) {
  TempFolder folder;
  fs::create_directory(folder / "c.dist-partial");
  int other = ::open((folder / "c.dist-partial").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_MESSAGE(checkSaveFolder(folder / "c"), "another run is saving to '");
  ::close(other);
  EXPECT_SUCCESS(checkSaveFolder(folder / "c"));
}

TEST(Checkpoint, RefusesDoubleNames) {
  TempFolder folder;
  std::vector<TensorSpec> specs = {{"w", ElementType::F32, {1}},
                                   {"w", ElementType::F32, {1}}};
  EXPECT_MESSAGE(
      saveCheckpoint(folder / "c", kState, specs, makeSource(specs, 0), {1}),
      "two tensors of a checkpoint are named 'w'");
}

/// What checking a fresh checkpoint against these says, without its path.
static std::string check(const std::vector<TensorSpec> &expected,
                         bool paramsOnly) {
  TempFolder folder;
  save(folder / "c");
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder / "c");
  EXPECT_TRUE(checkpoint);
  std::string text = messageOf(checkpoint->check(expected, paramsOnly));
  std::string path = folder / "c";
  size_t place = text.find(path);
  return place == std::string::npos ? text
                                    : text.replace(place, path.size(), "c");
}

TEST(Checkpoint, ChecksNames) {
  TensorSpec w = {"w", ElementType::F32, {4, 8}};
  TensorSpec b = {"b", ElementType::F32, {8}};
  TensorSpec x = {"x", ElementType::F32, {8}};
  EXPECT_EQ(check({w, b}, true), "(success)");
  EXPECT_EQ(check({w, b}, false),
            "'c' has 'm:b', 'm:w', 'v:b', 'v:w', which this program does not "
            "know");
  EXPECT_EQ(check({w, b, x}, true), "'c' lacks 'x' of this program");
  EXPECT_EQ(check({w, x}, true), "'c' lacks 'x' of this program and has 'b', "
                                 "which this program does not know");
  std::vector<TensorSpec> many = {w, b};
  for (int i = 0; i < 11; ++i)
    many.push_back({"x" + std::to_string(i), ElementType::F32, {}});
  EXPECT_EQ(check(many, true),
            "'c' lacks 'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7' and 3 "
            "more of this program");
}

TEST(Checkpoint, ChecksShapesAndTypes) {
  TensorSpec b = {"b", ElementType::F32, {8}};
  EXPECT_EQ(check({{"w", ElementType::F32, {8, 4}}, b}, true),
            "'w' in 'c' is 4x8 of f32; expected 8x4 of f32");
  EXPECT_EQ(check({{"w", ElementType::I32, {4, 8}}, b}, true),
            "'w' in 'c' is 4x8 of f32; expected 4x8 of i32");
  // A plan in another precision can load it.
  EXPECT_EQ(check({{"w", ElementType::F64, {4, 8}}, b}, true), "(success)");
}

TEST(Checkpoint, ReadsFilesOfOthers) {
  TempFolder folder;
  fs::create_directory(folder / "c");
  std::string path = folder / "c/model.safetensors";
  std::vector<TensorSpec> specs = {{"w", ElementType::F32, {1}}};
  auto writer = SafeTensorsWriter::create(path, specs, {{"format", "pt"}});
  ASSERT_TRUE(writer);
  ASSERT_SUCCESS(writer->append("1234", 4));
  ASSERT_SUCCESS(writer->finish());
  for (const std::string &name : {path, folder / "c"}) {
    Expected<Checkpoint> checkpoint = Checkpoint::open(name);
    ASSERT_TRUE(checkpoint) << messageOf(checkpoint.takeError());
    EXPECT_TRUE(checkpoint->lookup("w"));
    EXPECT_MESSAGE(checkpoint->getState(),
                   "does not say its step, seed and data position; "
                   "--load-params");
  }
}

/// Opens a checkpoint of two shards whose index is replaced.
static std::string openWithIndex(const std::string &index) {
  TempFolder folder;
  save(folder / "c", 0, 7, 320);
  folder.write(std::string("c/") + kIndex, index);
  return messageOf(Checkpoint::open(folder / "c"));
}

TEST(Checkpoint, RefusesHostileIndexes) {
  auto expect = [](const std::string &index, const char *part) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, part, openWithIndex(index));
  };
  expect("", "not JSON");
  expect("{", "not JSON");
  expect(std::string(1'000'000, '['), "not JSON");
  expect(std::string(100'000, '[') + std::string(100'000, ']'),
         "expected an object with a 'weight_map'");
  expect("{\"weight_map\": 3}", "expected an object with a 'weight_map'");
  for (const char *name : {"3", "\"../c\"", "\"/etc/passwd\"", "\"..\"", "\"\"",
                           "\"a\\u0000b\"", "[]"})
    expect(std::string("{\"weight_map\": {\"w\": ") + name + "}}",
           "the name of a file in the same folder");
  expect("{\"weight_map\": {\"w\": \"x.safetensors\"}}", "cannot open '");
  std::string first = "\"model-00001-of-00002.safetensors\"";
  expect("{\"weight_map\": {\"x\": " + first + "}}", "has no tensor 'x'");
  expect("{\"weight_map\": {\"w\": " + first + "}}", "does not list");
}

TEST(Checkpoint, RefusesShardsOfDifferentSaves) {
  TempFolder folder;
  save(folder / "c", 0, 7, 320);
  save(folder / "d", 0, 8, 320);
  std::string name = "model-00002-of-00002.safetensors";
  fs::copy_file(folder / "d/" + name, folder / "c/" + name,
                fs::copy_options::overwrite_existing);
  EXPECT_MESSAGE(Checkpoint::open(folder / "c"), "is of step 8, other files "
                                                 "of 7");
}

TEST(Checkpoint, RefusesWhatIsNone) {
  TempFolder folder;
  fs::create_directory(folder / "c");
  EXPECT_MESSAGE(Checkpoint::open(folder / "c"), "is not a checkpoint");
  EXPECT_MESSAGE(Checkpoint::open(folder / "d"), "No such file");
  save(folder / "c");
  fs::resize_file(folder / "c/" + kOnlyShard, 100);
  EXPECT_MESSAGE(Checkpoint::open(folder / "c"), "truncated");
  fs::remove(folder / "c/" + kOnlyShard);
  EXPECT_MESSAGE(Checkpoint::open(folder / "c"), "No such file");
}
