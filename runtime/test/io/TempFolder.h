//===- TempFolder.h - A folder for the files of one test --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_TEST_IO_TEMPFOLDER_H
#define DIST_RUNTIME_TEST_IO_TEMPFOLDER_H

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

/// A new folder, deleted with all that is in it. It is in memory where that is
/// possible: saving flushes every file to the device.
class TempFolder {
public:
  TempFolder() {
    for (std::string parent :
         {std::string("/dev/shm"),
          std::filesystem::temp_directory_path().string()}) {
      std::string pattern = parent + "/io-XXXXXX";
      if (::mkdtemp(pattern.data())) {
        root = pattern;
        return;
      }
    }
    std::abort();
  }
  TempFolder(const TempFolder &) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }

  std::string operator/(std::string_view name) const {
    return root + "/" + std::string(name);
  }

  std::string write(std::string_view name, std::string_view bytes) const {
    std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// Names in a folder, sorted.
  static std::vector<std::string> list(const std::string &folder) {
    std::vector<std::string> names;
    for (auto &entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::string> list() const { return list(root); }

  static std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string root;
};

#endif // DIST_RUNTIME_TEST_IO_TEMPFOLDER_H
