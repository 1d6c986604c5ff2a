//===- DataReaderTest.cpp - Windows, their order, and bad tokens ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/DataReader.h"
#include "Allocations.h"
#include "Expect.h"
#include "TempFolder.h"
#include "io/SafeTensors.h"

#include <numeric>
#include <set>

using namespace dist::io;

template <typename T>
static std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

/// Tokens 0, 1, 2, ... as u16.
static std::string countingFile(size_t number, uint16_t first = 0) {
  std::vector<uint16_t> tokens(number);
  std::iota(tokens.begin(), tokens.end(), first);
  return bytesOf(tokens);
}

static DataReader open(const DataOptions &options) {
  Expected<DataReader> reader = DataReader::open(options);
  EXPECT_TRUE(reader) << messageOf(reader.takeError());
  return std::move(*reader);
}

/// The first token of each window of a batch. Tokens are 0, 1, 2, ..., so
/// window k begins with k * seq.
static std::vector<int64_t> nextWindows(DataReader &reader, int64_t batch,
                                        int64_t seq) {
  std::vector<int32_t> tokens(batch * seq), targets(batch * seq);
  reader.nextBatch();
  EXPECT_SUCCESS(reader.copyBatch(TensorBlock::whole({batch, seq}),
                                  ElementType::I32, tokens.data(),
                                  targets.data()));
  std::vector<int64_t> windows;
  for (int64_t i = 0; i < batch * seq; ++i) {
    EXPECT_EQ(tokens[i], tokens[i / seq * seq] + i % seq);
    EXPECT_EQ(targets[i], tokens[i] + 1);
    if (i % seq == 0)
      windows.push_back(tokens[i] / seq);
  }
  return windows;
}

// Orders from an implementation in Python; seed 42, 10 windows.
static const std::vector<int64_t> kEpoch0 = {8, 9, 4, 3, 0, 1, 2, 7, 5, 6};
static const std::vector<int64_t> kEpoch1 = {1, 7, 5, 9, 3, 2, 0, 8, 6, 4};

static std::vector<int64_t> cut(size_t begin, size_t end) {
  std::vector<int64_t> order = kEpoch0;
  order.insert(order.end(), kEpoch1.begin(), kEpoch1.end());
  return {order.begin() + begin, order.begin() + end};
}

TEST(DataReader, OrderOfEpochs) {
  TempFolder folder;
  // 10 windows of 3 need 31 tokens; two more make no window.
  DataOptions options{{folder.write("x.bin", countingFile(33))}, 4, 3, 100, 42};
  DataReader reader = open(options);
  EXPECT_EQ(reader.getNumWindows(), 10);
  EXPECT_EQ(nextWindows(reader, 4, 3), cut(0, 4));
  EXPECT_EQ(nextWindows(reader, 4, 3), cut(4, 8));
  // What is left of an epoch carries into the next.
  EXPECT_EQ(nextWindows(reader, 4, 3), cut(8, 12));
  EXPECT_EQ(nextWindows(reader, 4, 3), cut(12, 16));
  EXPECT_EQ(reader.getPosition(), 16);
}

TEST(DataReader, ABatchOfSeveralEpochs) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(31))}, 20, 3, 100, 42});
  EXPECT_EQ(nextWindows(reader, 20, 3), cut(0, 20));
}

TEST(DataReader, SeekResumes) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(31))}, 4, 3, 100, 42});
  ASSERT_SUCCESS(reader.seek(12));
  EXPECT_EQ(nextWindows(reader, 4, 3), cut(12, 16));
  ASSERT_SUCCESS(reader.seek(0));
  EXPECT_EQ(nextWindows(reader, 4, 3), cut(0, 4));
  EXPECT_MESSAGE(reader.seek(-1), "data position -1");
}

TEST(DataReader, SeedsAreWide) {
  TempFolder folder;
  DataReader reader = open({{folder.write("x.bin", countingFile(19))},
                            6,
                            3,
                            100,
                            (uint64_t(1) << 40) + 1});
  EXPECT_EQ(nextWindows(reader, 6, 3),
            (std::vector<int64_t>{3, 5, 2, 0, 4, 1}));
}

TEST(DataReader, FileOrderForEvaluation) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(10))}, 2, 3, 100, 42, false});
  EXPECT_EQ(nextWindows(reader, 2, 3), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(nextWindows(reader, 2, 3), (std::vector<int64_t>{2, 0}));
}

TEST(DataReader, WindowsCrossFiles) {
  TempFolder folder;
  std::vector<std::string> paths = {
      folder.write("a.bin", countingFile(5)),
      folder.write("b.u32", bytesOf(std::vector<uint32_t>{5, 6})),
      folder.write("c.txt", "\7\x08\x09\x0a")};
  DataReader reader = open({paths, 1, 10, 11, 0, false});
  EXPECT_EQ(reader.getNumTokens(), 11);
  EXPECT_EQ(nextWindows(reader, 1, 10), (std::vector<int64_t>{0}));
}

TEST(DataReader, BlocksOfTheBatch) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(25))}, 4, 6, 100, 0, false});
  reader.nextBatch();
  // Rows 2..3, columns 3..5, in a padded 2x4, as i64.
  std::vector<int64_t> targets(8, -1);
  TensorBlock block{{4, 6}, {2, 3}, {2, 3}, {2, 4}};
  ASSERT_SUCCESS(
      reader.copyBatch(block, ElementType::I64, nullptr, targets.data()));
  EXPECT_EQ(targets, (std::vector<int64_t>{16, 17, 18, -1, 22, 23, 24, -1}));
  // The same tensor with other factors: one row runs over three windows.
  std::vector<int32_t> tokens(12);
  TensorBlock merged{{2, 12}, {1, 0}, {1, 12}, {1, 12}};
  ASSERT_SUCCESS(
      reader.copyBatch(merged, ElementType::I32, tokens.data(), nullptr));
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(tokens[i], 12 + i);
}

TEST(DataReader, RefusesOtherShapesAndTypes) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(25))}, 4, 6, 100, 0});
  reader.nextBatch();
  EXPECT_MESSAGE(reader.copyBatch(TensorBlock::whole({4, 5}), ElementType::I32,
                                  nullptr, nullptr),
                 "expected i32 or i64 of 4x6");
  EXPECT_MESSAGE(reader.copyBatch(TensorBlock::whole({4, 6}), ElementType::F32,
                                  nullptr, nullptr),
                 "tokens are f32");
}

TEST(DataReader, NamesATokenOutsideTheVocabulary) {
  TempFolder folder;
  std::vector<std::string> paths = {folder.write("a.bin", countingFile(3)),
                                    folder.write("b.bin", countingFile(8, 95))};
  DataReader reader = open({paths, 1, 10, 100, 0});
  reader.nextBatch();
  std::vector<int32_t> tokens(10);
  EXPECT_EQ(
      messageOf(reader.copyBatch(TensorBlock::whole({1, 10}), ElementType::I32,
                                 tokens.data(), nullptr)),
      "'" + paths[1] +
          "': token 100 at byte offset 10 (token 5); expected 0 to 99, "
          "the vocabulary");
}

TEST(DataReader, WithoutAVocabularyTokensFitInI32) {
  TempFolder folder;
  constexpr uint32_t large = 0x7fffffff;
  std::vector<uint32_t> values = {large, large + 1, 0};
  DataReader reader =
      open({{folder.write("x.u32", bytesOf(values))}, 1, 2, 0, 0});
  reader.nextBatch();
  std::vector<int32_t> tokens(2);
  EXPECT_MESSAGE(reader.copyBatch(TensorBlock::whole({1, 2}), ElementType::I32,
                                  tokens.data(), nullptr),
                 "token 2147483648 at byte offset 4 (token 1)");
  EXPECT_EQ(tokens[0], 0x7fffffff);
}

// The token after the last window is a target, and checked like any other.
TEST(DataReader, ChecksTheLastTarget) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(11))}, 1, 10, 10, 0});
  reader.nextBatch();
  std::vector<int32_t> tokens(10), targets(10);
  TensorBlock whole = TensorBlock::whole({1, 10});
  EXPECT_SUCCESS(
      reader.copyBatch(whole, ElementType::I32, tokens.data(), nullptr));
  EXPECT_MESSAGE(
      reader.copyBatch(whole, ElementType::I32, nullptr, targets.data()),
      "token 10 at byte offset 20");
}

static std::string readAll(const std::string &path, int64_t number) {
  Expected<TokenFile> file = TokenFile::open(path);
  if (!file)
    return messageOf(file.takeError());
  EXPECT_EQ(file->getNumTokens(), number);
  std::vector<int64_t> tokens(number);
  if (Error error = file->read(0, number, int64_t(1) << 31, ElementType::I64,
                               tokens.data()))
    return error.message();
  std::string text;
  for (int64_t token : tokens)
    text += std::to_string(token) + " ";
  return text;
}

TEST(TokenFile, EveryIntegerType) {
  TempFolder folder;
  auto read = [&]<typename T>(ElementType type, std::vector<T> values) {
    std::vector<TensorSpec> specs = {
        {"x", type, {static_cast<int64_t>(values.size())}}};
    auto writer =
        SafeTensorsWriter::create(folder / "x.safetensors", specs, {});
    EXPECT_TRUE(writer);
    EXPECT_SUCCESS(writer->append(values.data(), values.size() * sizeof(T)));
    EXPECT_SUCCESS(writer->finish());
    return readAll(folder / "x.safetensors", values.size());
  };
  EXPECT_EQ(read(ElementType::U8, std::vector<uint8_t>{1, 255}), "1 255 ");
  EXPECT_EQ(read(ElementType::I8, std::vector<int8_t>{1, 127}), "1 127 ");
  EXPECT_EQ(read(ElementType::U16, std::vector<uint16_t>{65535}), "65535 ");
  EXPECT_EQ(read(ElementType::I16, std::vector<int16_t>{7}), "7 ");
  EXPECT_EQ(read(ElementType::U32, std::vector<uint32_t>{70000}), "70000 ");
  EXPECT_EQ(read(ElementType::I32, std::vector<int32_t>{70000}), "70000 ");
  EXPECT_EQ(read(ElementType::I64, std::vector<int64_t>{70000}), "70000 ");
  EXPECT_EQ(read(ElementType::U64, std::vector<uint64_t>{9}), "9 ");
  auto contains = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(read(ElementType::I8, std::vector<int8_t>{-1}),
                       "token -1 at byte offset"));
  EXPECT_TRUE(
      contains(read(ElementType::U64, std::vector<uint64_t>{~uint64_t(0)}),
               "token 18446744073709551615 at"));
  EXPECT_TRUE(contains(read(ElementType::F32, std::vector<float>{1}),
                       "holds f32; expected integers"));
}

TEST(TokenFile, PicksTheTensorNamedTokens) {
  TempFolder folder;
  for (const char *name : {"tokens", "other"}) {
    std::vector<TensorSpec> specs = {{"a", ElementType::U8, {1}},
                                     {name, ElementType::U8, {1, 2}}};
    auto writer =
        SafeTensorsWriter::create(folder / "x.safetensors", specs, {});
    ASSERT_TRUE(writer);
    ASSERT_SUCCESS(writer->append("\1\2\3", 3));
    ASSERT_SUCCESS(writer->finish());
    if (name == std::string("tokens"))
      EXPECT_EQ(readAll(folder / "x.safetensors", 2), "2 3 ");
    else
      EXPECT_MESSAGE(TokenFile::open(folder / "x.safetensors"),
                     "has 2 tensors; expected one, or one named 'tokens'");
  }
}

TEST(DataReader, RefusesBadFiles) {
  TempFolder folder;
  auto open = [&](const std::string &path, int64_t seq = 4) {
    return messageOf(DataReader::open({{path}, 1, seq, 256, 0}));
  };
  EXPECT_EQ(open(folder / "no.bin"), "cannot open '" + (folder / "no.bin") +
                                         "': No such file or directory");
  EXPECT_EQ(open(folder.write("odd.bin", "123")),
            "'" + (folder / "odd.bin") +
                "' has 3 bytes; expected a multiple of 2");
  EXPECT_EQ(open(folder.write("e.txt", "")),
            "'" + (folder / "e.txt") + "' has no tokens");
  EXPECT_EQ(open(folder.write("t.txt", "abcd")),
            "the data has 4 tokens ('" + (folder / "t.txt") +
                "'); expected at least 5, a window of 4 and its last target");
  EXPECT_EQ(open(folder.write("t.txt", "abcde")), "(success)");
  EXPECT_MESSAGE(TokenFile::open(folder.write("x.npy", "abc")),
                 "not an .npy file");
  EXPECT_MESSAGE(TokenFile::open(folder.write("x.safetensors", "abc")),
                 "3 bytes; expected a safetensors file");
}

TEST(DataReader, RefusesBadOptions) {
  TempFolder folder;
  std::string path = folder.write("t.txt", "abcdef");
  EXPECT_MESSAGE(DataReader::open({{}, 1, 1, 1, 0}), "no data");
  EXPECT_MESSAGE(DataReader::open({{path}, 0, 1, 1, 0}), "a batch of 0");
  EXPECT_MESSAGE(DataReader::open({{path}, 1, -1, 1, 0}), "windows of -1");
  EXPECT_MESSAGE(DataReader::open({{path}, 1, 1, -1, 0}), "a vocabulary of -1");
}

TEST(DataReader, AllocatesNothingPerBatch) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(3000))}, 7, 3, 3000, 1});
  std::vector<int32_t> tokens(21), targets(21);
  TensorBlock block = TensorBlock::whole({7, 3});
  int64_t before = countAllocations();
  for (int i = 0; i < 500; ++i) { // several epochs
    reader.nextBatch();
    Error error = reader.copyBatch(block, ElementType::I32, tokens.data(),
                                   targets.data());
    ASSERT_FALSE(error);
  }
  EXPECT_EQ(countAllocations(), before);
}

TEST(DataReader, AnEpochIsAPermutation) {
  TempFolder folder;
  DataReader reader =
      open({{folder.write("x.bin", countingFile(3001))}, 1000, 3, 3001, 9});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> windows = nextWindows(reader, 1000, 3);
    EXPECT_EQ(std::set<int64_t>(windows.begin(), windows.end()).size(), 1000u);
  }
}
