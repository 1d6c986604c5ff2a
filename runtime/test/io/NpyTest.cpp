//===- NpyTest.cpp - NumPy's array files ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/Npy.h"
#include "Expect.h"
#include "TempFolder.h"

using namespace dist::io;

/// A file of format `major` with this header and data.
static std::string makeFile(const std::string &header, const std::string &data,
                            int major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(major), '\0'};
  uint32_t length = header.size();
  bytes.append(reinterpret_cast<char *>(&length), major == 1 ? 2 : 4);
  return bytes + header + data;
}

static std::string header(const char *descr, const char *shape,
                          const char *order = "False") {
  return std::string("{'descr': '") + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }          \n";
}

static std::string open(const TempFolder &folder, const std::string &bytes) {
  Expected<MappedFile> file = MappedFile::open(folder.write("x.npy", bytes));
  EXPECT_TRUE(file);
  return messageOf(readNpy(*file));
}

#define EXPECT_NPY(bytes, part)                                                \
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, open(TempFolder(), bytes))

TEST(Npy, ReadsEveryFormat) {
  for (int major : {1, 2, 3}) {
    TempFolder folder;
    std::string path = folder.write(
        "x.npy", makeFile(header("<i4", "(2, 1)"),
                          std::string("\1\0\0\0\2\0\0\0", 8), major));
    Expected<MappedFile> whole = MappedFile::open(path);
    ASSERT_TRUE(whole);
    Expected<TensorView> view = readNpy(*whole);
    ASSERT_TRUE(view) << messageOf(view.takeError());
    EXPECT_EQ(view->type, ElementType::I32);
    EXPECT_EQ(view->shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(loadInteger(view->type, view->data + 4), 2);
  }
}

TEST(Npy, AcceptsScalarsAndFortranVectors) {
  EXPECT_NPY(makeFile(header("|u1", "()"), "x"), "(success)");
  EXPECT_NPY(makeFile(header("|u1", "(1,)", "True"), "x"), "(success)");
  EXPECT_NPY(
      makeFile("{\"shape\":(0,),'descr':'<f8','fortran_order':False}", ""),
      "(success)");
}

TEST(Npy, RefusesWrongHeaders) {
  EXPECT_NPY("", "not an .npy file");
  EXPECT_NPY("\x93NUMPX", "not an .npy file");
  EXPECT_NPY(makeFile(header("|u1", "()"), "x", 4), "not an .npy file");
  EXPECT_NPY(makeFile(header("|u1", "()"), "x").substr(0, 40), "cut off");
  EXPECT_NPY(makeFile("{", ""), "the .npy header");
  EXPECT_NPY(makeFile("{'descr': '|u1'}", ""), "the .npy header");
  EXPECT_NPY(makeFile("{'descr': [('a', '<i4')], 'fortran_order': False, "
                      "'shape': (1,)}",
                      ""),
             "the .npy header");
  EXPECT_NPY(makeFile(header("|u1", "(-1,)"), ""), "the .npy header");
  EXPECT_NPY(makeFile(header("|u1", "(1 2)"), ""), "the .npy header");
  EXPECT_NPY(makeFile(header("|u1", "(1"), ""), "the .npy header");
  EXPECT_NPY(makeFile(header("|u1", "1"), ""), "the .npy header");
  EXPECT_NPY(makeFile(header("|u1", "(1,)", "No"), ""), "the .npy header");
}

TEST(Npy, RefusesWrongTypesAndSizes) {
  EXPECT_NPY(makeFile(header(">i4", "(1,)"), "xxxx"), "type '>i4'");
  EXPECT_NPY(makeFile(header("<c8", "(1,)"), "xxxxxxxx"), "type '<c8'");
  EXPECT_NPY(makeFile(header("", "(1,)"), "x"), "type ''");
  EXPECT_NPY(makeFile(header("|u1", "(2, 2)", "True"), "xxxx"),
             "Fortran order");
  EXPECT_NPY(makeFile(header("<i4", "(2,)"), "xxxx"),
             "truncated: 2 needs 8 bytes, has 4");
  EXPECT_NPY(makeFile(header("<i4", "(4611686018427387904, 4)"), ""),
             "overflows");
  EXPECT_NPY(makeFile(header("<i4", "(99999999999999999999,)"), ""),
             "the .npy header");
}

// A few random bytes changed: an error or a view that lies inside the file.
TEST(Npy, SurvivesMutation) {
  TempFolder folder;
  std::string whole = makeFile(header("<i2", "(2, 3)"), "123456789012");
  uint32_t state = 1;
  auto draw = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    for (uint32_t changes = draw() % 3 + 1; changes > 0; --changes)
      bytes[draw() % bytes.size()] = static_cast<char>(draw());
    Expected<MappedFile> file = MappedFile::open(folder.write("x", bytes));
    ASSERT_TRUE(file);
    Expected<TensorView> view = readNpy(*file);
    if (!view)
      continue;
    ASSERT_GE(view->data, file->data());
    ASSERT_LE(view->data + view->bytes, file->data() + file->size());
  }
}
