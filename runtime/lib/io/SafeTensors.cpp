//===- SafeTensors.cpp - The safetensors format ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "io/SafeTensors.h"
#include "io/SafeTensorsHeader.h"

#include <cstring>

using namespace dist::io;

static constexpr int64_t kLengthBytes = 8;
static constexpr uint64_t kMaxHeaderBytes = 100'000'000;

static Error inFile(const std::string &path, const std::string &problem) {
  return makeError("'%s': %s", path.c_str(), problem.c_str());
}

/// The text of the header in a file that is not trusted.
static Expected<std::string_view> findHeader(const MappedFile &file) {
  if (file.size() < kLengthBytes)
    return makeError("%lld bytes; expected a safetensors file, which has at "
                     "least %lld",
                     static_cast<long long>(file.size()),
                     static_cast<long long>(kLengthBytes));
  uint64_t length;
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaxHeaderBytes)
    return makeError("not a safetensors file: its header would be %llu bytes, "
                     "expected at most %llu",
                     static_cast<unsigned long long>(length),
                     static_cast<unsigned long long>(kMaxHeaderBytes));
  int64_t rest = file.size() - kLengthBytes;
  if (static_cast<int64_t>(length) > rest)
    return makeError("truncated: the header has %llu bytes, the file only "
                     "%lld after its length",
                     static_cast<unsigned long long>(length),
                     static_cast<long long>(rest));
  return std::string_view(
      reinterpret_cast<const char *>(file.data()) + kLengthBytes, length);
}

Expected<SafeTensorsFile> SafeTensorsFile::open(const std::string &path) {
  Expected<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.takeError();
  Expected<std::string_view> text = findHeader(*mapped);
  if (!text)
    return inFile(path, text.takeError().message());
  int64_t begin = kLengthBytes + static_cast<int64_t>(text->size());
  Expected<SafeTensorsHeader> header =
      parseSafeTensorsHeader(*text, mapped->size() - begin);
  if (!header)
    return inFile(path, header.takeError().message());
  SafeTensorsFile file(std::move(*mapped));
  file.tensors = std::move(header->tensors);
  file.metadata = std::move(header->metadata);
  const std::byte *data = file.file.data() + begin;
  for (TensorView &view : file.tensors) {
    file.byName[view.name] = &view - file.tensors.data();
    view.data = data;
    data += view.bytes;
  }
  return file;
}

const TensorView *SafeTensorsFile::lookup(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &tensors[found->second];
}

int64_t TensorSpec::getNumElements() const {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

int64_t TensorSpec::getByteSize() const {
  return getNumElements() * io::getByteSize(type);
}

Expected<SafeTensorsWriter>
SafeTensorsWriter::create(const std::string &path,
                          const std::vector<TensorSpec> &tensors,
                          const Metadata &metadata) {
  int64_t bytes = 0;
  for (const TensorSpec &tensor : tensors)
    bytes += tensor.getByteSize();
  std::string text = formatSafeTensorsHeader(tensors, metadata);
  text.append(-text.size() % 8, ' '); // aligns the data
  // What is written must read back; the reader knows all the rules.
  if (Expected<SafeTensorsHeader> header = parseSafeTensorsHeader(text, bytes);
      !header)
    return inFile(path, header.takeError().message());
  Expected<OutputFile> output = OutputFile::create(path);
  if (!output)
    return output.takeError();
  uint64_t length = text.size();
  if (Error error = output->append(&length, sizeof(length)))
    return error;
  if (Error error = output->append(text.data(), text.size()))
    return error;
  return SafeTensorsWriter(std::move(*output), bytes);
}

Error SafeTensorsWriter::append(const void *data, int64_t bytes) {
  if (bytes > missing)
    return inFile(output.getPath(), "more data than its header says");
  missing -= bytes;
  return output.append(data, bytes);
}

Error SafeTensorsWriter::finish() {
  if (missing != 0)
    return inFile(output.getPath(), "less data than its header says");
  return output.finish();
}
