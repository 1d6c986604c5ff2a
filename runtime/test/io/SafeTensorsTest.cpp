//===- SafeTensorsTest.cpp - Hostile and honest safetensors files ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/SafeTensors.h"
#include "Expect.h"
#include "TempFolder.h"

#include <cstring>

using namespace dist::io;

/// The bytes of a file with `header` and `dataBytes` bytes of data.
static std::string makeFile(const std::string &header, size_t dataBytes) {
  uint64_t length = header.size();
  std::string bytes(reinterpret_cast<char *>(&length), sizeof(length));
  return bytes + header + std::string(dataBytes, '\x01');
}

/// What opening such a file says.
static std::string openMade(const std::string &header, size_t dataBytes) {
  TempFolder folder;
  std::string path = folder.write("x", makeFile(header, dataBytes));
  return messageOf(SafeTensorsFile::open(path));
}

static std::string entry(const char *type, const char *shape,
                         const char *offsets) {
  return std::string("{\"dtype\":\"") + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

#define EXPECT_OPEN(header, dataBytes, part)                                   \
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, openMade(header, dataBytes))

TEST(SafeTensors, RoundTrip) {
  TempFolder folder;
  std::vector<TensorSpec> specs = {{"a.weight", ElementType::F32, {2, 3}},
                                   {"s\"\\\n\u00e9", ElementType::BF16, {}},
                                   {"nothing", ElementType::I64, {0, 4}},
                                   {"flags", ElementType::Bool, {3}}};
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  {
    Expected<SafeTensorsWriter> writer = SafeTensorsWriter::create(
        folder / "x", specs, {{"step", "7"}, {"q", "\"x\""}});
    ASSERT_TRUE(writer);
    ASSERT_SUCCESS(writer->append(values.data(), 10));
    ASSERT_SUCCESS(
        writer->append(reinterpret_cast<char *>(values.data()) + 10, 14));
    ASSERT_SUCCESS(writer->append("\x80\x3f\x01\x00\x01", 5));
    ASSERT_SUCCESS(writer->finish());
  }
  Expected<SafeTensorsFile> file = SafeTensorsFile::open(folder / "x");
  ASSERT_TRUE(file) << messageOf(file.takeError());
  EXPECT_EQ(file->getMetadata(), (Metadata{{"q", "\"x\""}, {"step", "7"}}));
  ASSERT_EQ(file->getTensors().size(), 4u);
  const TensorView *a = file->lookup("a.weight");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(a->data, values.data(), 24), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data) % 8, 0u);
  const TensorView *scalar = file->lookup("s\"\\\n\u00e9");
  ASSERT_TRUE(scalar);
  EXPECT_EQ(loadFloat(scalar->type, scalar->data), 1);
  EXPECT_EQ(file->lookup("nothing")->bytes, 0);
  EXPECT_EQ(file->lookup("flags")->bytes, 3);
  EXPECT_EQ(file->lookup("b"), nullptr);
}

TEST(SafeTensors, ReadsTensorsInTheOrderOfTheirData) {
  TempFolder folder;
  std::string path =
      folder.write("x", makeFile("{\"b\":" + entry("U8", "[2]", "[4,6]") +
                                     ",\"a\":" + entry("F32", "[1]", "[0,4]") +
                                     ",\"__metadata__\":{}}   ",
                                 6));
  Expected<SafeTensorsFile> file = SafeTensorsFile::open(path);
  ASSERT_TRUE(file) << messageOf(file.takeError());
  EXPECT_EQ(file->getTensors()[0].name, "a");
  EXPECT_EQ(file->getTensors()[1].name, "b");
}

TEST(SafeTensors, RefusesWhatIsNoFile) {
  TempFolder folder;
  EXPECT_MESSAGE(SafeTensorsFile::open(folder / "none"), "none': No such file");
  EXPECT_MESSAGE(SafeTensorsFile::open(folder.root), "is a folder");
  EXPECT_MESSAGE(SafeTensorsFile::open("/dev/zero"), "is not a file");
}

TEST(SafeTensors, RefusesTruncatedFiles) {
  TempFolder folder;
  std::string whole =
      makeFile("{\"a\":" + entry("F32", "[2]", "[0,8]") + "}", 8);
  ASSERT_TRUE(SafeTensorsFile::open(folder.write("x", whole)));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(
        SafeTensorsFile::open(folder.write("x", whole.substr(0, length))))
        << length;
  EXPECT_MESSAGE(SafeTensorsFile::open(folder.write("x", whole.substr(0, 20))),
                 "truncated");
  EXPECT_FALSE(SafeTensorsFile::open(folder.write("x", whole + "x")));
}

TEST(SafeTensors, RefusesHugeHeaders) {
  TempFolder folder;
  for (int byte : {0x7f, 0x80, 0xff}) {
    std::string bytes(16, static_cast<char>(byte));
    EXPECT_MESSAGE(SafeTensorsFile::open(folder.write("x", bytes)),
                   "not a safetensors file");
  }
}

TEST(SafeTensors, RefusesWhatIsNotJson) {
  EXPECT_OPEN("", 0, "not JSON");
  EXPECT_OPEN("{", 0, "not JSON");
  EXPECT_OPEN("{}{}", 0, "not JSON");
  EXPECT_OPEN("{} x", 0, "not JSON");
  EXPECT_OPEN("{\"a\xff\":1}", 0, "not JSON");
  EXPECT_OPEN(std::string("{\0}", 3), 0, "not JSON");
  EXPECT_OPEN("[]", 0, "the header is an array");
  EXPECT_OPEN("null", 0, "the header is null");
  EXPECT_OPEN("3", 0, "the header is a number");
}

TEST(SafeTensors, RefusesDeepNesting) {
  std::string deep(1'000'000, '[');
  EXPECT_OPEN(deep, 0, "the header is an array");
  EXPECT_OPEN("{\"a\":" + deep, 0, "an array for 'a'");
  EXPECT_OPEN("{\"a\":{\"shape\":" + deep, 0, "an array in 'a', 'shape'");
  std::string objects;
  for (int i = 0; i < 100'000; ++i)
    objects += "{\"a\":";
  EXPECT_OPEN(objects, 0, "tensor 'a' has the unknown key 'a'");
}

TEST(SafeTensors, RefusesWrongEntries) {
  EXPECT_OPEN("{\"a\":3}", 0, "a number for 'a'");
  EXPECT_OPEN("{\"a\":{}}", 0, "tensor 'a' lacks 'dtype'");
  EXPECT_OPEN("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 4,
              "lacks 'data_offsets'");
  EXPECT_OPEN("{\"a\":" + entry("F7", "[1]", "[0,4]") + "}", 4,
              "unknown dtype 'F7'");
  EXPECT_OPEN("{\"a\":" + entry("F32", "4", "[0,4]") + "}", 4,
              "a number in 'a', 'shape'");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[-1]", "[0,4]") + "}", 4,
              "a negative number in 'a', 'shape'");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1.0]", "[0,4]") + "}", 4,
              "the number 1.0");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[18446744073709551615]", "[0,4]") + "}",
              4, "the number 18446744073709551615");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[true]", "[0,4]") + "}", 4,
              "a truth value");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1]", "[0,4,4]") + "}", 4,
              "3 data offsets");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1]", "[]") + "}", 4, "0 data offsets");
  EXPECT_OPEN("{\"__metadata__\":{\"a\":1}}", 0, "a number in '__metadata__'");
  EXPECT_OPEN("{\"__metadata__\":\"a\"}", 0, "a string for '__metadata__'");
}

TEST(SafeTensors, RefusesDuplicates) {
  std::string a = "\"a\":" + entry("F32", "[1]", "[0,4]");
  EXPECT_OPEN("{" + a + "," + a + "}", 4, "'a' comes twice");
  EXPECT_OPEN("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F64\"}}", 4,
              "'dtype' twice");
  EXPECT_OPEN("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0,
              "'a' comes twice in the metadata");
  EXPECT_OPEN("{\"__metadata__\":{},\"__metadata__\":{}}", 0,
              "'__metadata__' comes twice");
}

TEST(SafeTensors, RefusesWrongOffsets) {
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1]", "[0,8]") + "}", 8,
              "has 8 bytes; expected those of F32 1");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[2]", "[0,8]") + "}", 4,
              "at [0, 8) of 4 bytes");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1]", "[4,0]") + "}", 4,
              "at [4, 0) of 4 bytes");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1]", "[4,8]") + "}", 8,
              "begins at 4; expected 0");
  EXPECT_OPEN("{\"a\":" + entry("F32", "[1]", "[0,4]") + "}", 8,
              "8 bytes of data; expected the 4");
  std::string a = "{\"a\":" + entry("F32", "[2]", "[0,8]") + ",\"b\":";
  EXPECT_OPEN(a + entry("F32", "[1]", "[4,8]") + "}", 8,
              "'b' begins at 4; expected 8");
  EXPECT_OPEN(a + entry("F32", "[2]", "[0,8]") + "}", 8,
              "'b' begins at 0; expected 8");
  EXPECT_OPEN(a + entry("F32", "[1]", "[12,16]") + "}", 16,
              "'b' begins at 12; expected 8");
}

TEST(SafeTensors, RefusesOverflowingShapes) {
  EXPECT_OPEN("{\"a\":" + entry("F32", "[4611686018427387904,4]", "[0,0]") +
                  "}",
              0, "expected those of F32");
  EXPECT_OPEN("{\"a\":" + entry("F64", "[4294967296,4294967296,0]", "[0,0]") +
                  "}",
              0, "expected those of F64");
}

// One random byte changed: an error or a file whose views lie inside it.
TEST(SafeTensors, SurvivesMutation) {
  TempFolder folder;
  std::string whole = makeFile(
      "{\"__metadata__\":{\"k\":\"v\"},\"a\":" + entry("F32", "[2]", "[0,8]") +
          ",\"b\":" + entry("I16", "[1,3]", "[8,14]") + "}",
      14);
  uint32_t state = 1;
  auto draw = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    for (uint32_t changes = draw() % 3 + 1; changes > 0; --changes)
      bytes[draw() % bytes.size()] = static_cast<char>(draw());
    Expected<SafeTensorsFile> file =
        SafeTensorsFile::open(folder.write("x", bytes));
    if (!file)
      continue;
    unsigned sum = 0;
    for (const TensorView &tensor : file->getTensors())
      for (int64_t k = 0; k < tensor.bytes; ++k)
        sum += std::to_integer<unsigned>(tensor.data[k]);
    EXPECT_LE(sum, 14u * 255);
  }
}

TEST(SafeTensors, WriterRemovesWhatIsNotFinished) {
  TempFolder folder;
  std::vector<TensorSpec> specs = {{"a", ElementType::F32, {2}}};
  {
    Expected<SafeTensorsWriter> writer =
        SafeTensorsWriter::create(folder / "x", specs, {});
    ASSERT_TRUE(writer);
    ASSERT_SUCCESS(writer->append("1234", 4));
    EXPECT_MESSAGE(writer->finish(), "less data");
    EXPECT_MESSAGE(writer->append("12345", 5), "more data");
  }
  EXPECT_EQ(folder.list(), std::vector<std::string>());
}

TEST(SafeTensors, WriterRefusesNamesThatDoNotReadBack) {
  TempFolder folder;
  auto create = [&](std::vector<TensorSpec> specs) {
    return messageOf(SafeTensorsWriter::create(folder / "x", specs, {}));
  };
  TensorSpec a = {"a", ElementType::F32, {2}};
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "'a' comes twice", create({a, a}));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "not JSON",
                      create({{"\xff", ElementType::F32, {2}}}));
  EXPECT_NE(create({{"__metadata__", ElementType::F32, {2}}}), "(success)");
  EXPECT_EQ(folder.list(), std::vector<std::string>());
}

TEST(SafeTensors, WriterReportsAFullDeviceAndLeavesIt) {
  EXPECT_MESSAGE(SafeTensorsWriter::create("/dev/full", {}, {}),
                 "cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}
