//===- SafeTensors.h - The safetensors format -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is the length of the header (u64, little-endian), the header (a JSON
// object: name -> {dtype, shape, data_offsets}, and `__metadata__`, a map of
// strings) and the data. The reader trusts nothing: see `open`.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_SAFETENSORS_H
#define DIST_RUNTIME_IO_SAFETENSORS_H

#include "io/MappedFile.h"
#include "io/OutputFile.h"
#include "io/TensorBlock.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dist::io {

/// The strings of `__metadata__`.
using Metadata = std::map<std::string, std::string, std::less<>>;

class SafeTensorsFile {
public:
  /// Maps and checks a file. Refused with the path and the reason: a header
  /// past the end or over 100 MB, text that is not JSON or is nested too
  /// deeply, duplicate names, unknown types or keys, shapes whose size
  /// overflows or differs from the offsets, and data that is outside the file,
  /// overlaps, or leaves holes.
  static Expected<SafeTensorsFile> open(const std::string &path);

  /// In the order of the data. Views live as long as this object.
  const std::vector<TensorView> &getTensors() const { return tensors; }
  const Metadata &getMetadata() const { return metadata; }
  const std::string &getPath() const { return file.getPath(); }

  /// The tensor of that name, or null.
  const TensorView *lookup(std::string_view name) const;

  /// The mapping alone; views that were copied stay valid with it.
  MappedFile takeMapping() && { return std::move(file); }

private:
  explicit SafeTensorsFile(MappedFile file) : file(std::move(file)) {}

  MappedFile file;
  std::vector<TensorView> tensors;
  std::map<std::string, size_t, std::less<>> byName;
  Metadata metadata;
};

/// What is known of a tensor before its data.
struct TensorSpec {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape; ///< logical, global

  int64_t getNumElements() const;
  int64_t getByteSize() const;
};

/// Writes a file front to back. A writer that is destroyed before `finish`
/// succeeded removes what it wrote.
class SafeTensorsWriter {
public:
  /// Creates (or truncates) the file and writes the header. The data of the
  /// tensors follows in the order given, however it is cut into appends.
  static Expected<SafeTensorsWriter>
  create(const std::string &path, const std::vector<TensorSpec> &tensors,
         const Metadata &metadata);

  Error append(const void *data, int64_t bytes);

  /// Checks that all data came, flushes to the device and closes.
  Error finish();

private:
  SafeTensorsWriter(OutputFile output, int64_t missing)
      : output(std::move(output)), missing(missing) {}

  OutputFile output;
  int64_t missing; ///< bytes that the header promises and nobody appended
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_SAFETENSORS_H
