//===- Dump.cpp - The file of --dump --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Dump.h"

#include "io/PartialFile.h"

using namespace dist;
using io::Error;
using io::Expected;

namespace {
/// A tensor to write: a scalar of the program, a parameter or a gradient.
struct Entry {
  io::TensorSpec spec;
  std::vector<std::byte> (*read)(const TensorStore &store,
                                 const GradientTap *tap, size_t index);
  size_t index;
};
} // namespace

static std::vector<std::byte> readTensor(const TensorStore &store,
                                         const GradientTap *, size_t index) {
  std::vector<std::byte> data(store.getSpec(index).getByteSize());
  store.gather(index, data.data());
  return data;
}

static std::vector<std::byte>
readGradient(const TensorStore &, const GradientTap *tap, size_t index) {
  return tap->getData(index);
}

static std::vector<Entry>
listEntries(const TensorStore &store,
            std::span<const TensorInfo *const> scalars,
            const GradientTap *tap) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < store.getNumTensors(); ++i)
    for (const TensorInfo *scalar : scalars)
      if (scalar == &store.getInfo(i)) {
        entries.push_back({store.getSpec(i), readTensor, i});
        entries.back().spec.name =
            scalar->role == Role::Loss ? "loss" : "grad_norm";
        entries.back().spec.shape.clear();
      }
  for (size_t i = 0; i < store.getNumTensors(); ++i)
    if (store.getInfo(i).role == Role::Param) {
      entries.push_back({store.getSpec(i), readTensor, i});
      entries.back().spec.name.insert(0, "param:");
    }
  for (size_t i = 0; tap && i < tap->getNumGradients(); ++i)
    entries.push_back({tap->getSpec(i), readGradient, i});
  return entries;
}

Error dist::writeDump(const std::string &path, const TensorStore &store,
                      std::span<const TensorInfo *const> scalars,
                      const GradientTap *tap) {
  std::vector<Entry> entries = listEntries(store, scalars, tap);
  std::vector<io::TensorSpec> specs;
  for (const Entry &entry : entries)
    specs.push_back(entry.spec);
  Expected<io::PartialFile> partial = io::PartialFile::create(path);
  if (!partial)
    return partial.takeError();
  Expected<io::SafeTensorsWriter> writer =
      io::SafeTensorsWriter::create(partial->getPath(), specs, {});
  if (!writer)
    return writer.takeError();
  for (const Entry &entry : entries) {
    std::vector<std::byte> data = entry.read(store, tap, entry.index);
    if (Error error =
            writer->append(data.data(), static_cast<int64_t>(data.size())))
      return error;
  }
  if (Error error = writer->finish())
    return error;
  return partial->commit();
}
