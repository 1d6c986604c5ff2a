//===- TensorFile.cpp - Tensors in safetensors files ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/InputSource.h"
#include "io/PartialFile.h"
#include "io/SafeTensors.h"

using namespace llvm;
using namespace dist;
using namespace dist::interp;

static llvm::Error toError(io::Error error) {
  return createStringError(error.message());
}

/// What a file's type is held as.
static ElementKind getKind(io::ElementType type) {
  switch (type) {
  case io::ElementType::F64:
    return ElementKind::F64;
  case io::ElementType::F32:
    return ElementKind::F32;
  case io::ElementType::BF16:
    return ElementKind::BF16;
  case io::ElementType::F16:
    return ElementKind::F16;
  case io::ElementType::I32:
    return ElementKind::I32;
  case io::ElementType::Bool:
    return ElementKind::I1;
  default:
    return ElementKind::I64;
  }
}

static io::ElementType getFileType(ElementKind kind) {
  static constexpr io::ElementType types[] = {
      io::ElementType::F64, io::ElementType::F32, io::ElementType::BF16,
      io::ElementType::F16, io::ElementType::I64, io::ElementType::I32,
      io::ElementType::Bool};
  return types[size_t(kind)];
}

static llvm::Expected<Tensor> read(const io::TensorView &view) {
  ElementKind kind = getKind(view.type);
  io::TensorBlock block = io::TensorBlock::whole(view.shape);
  int64_t count = interp::getNumElements(view.shape);
  if (interp::isFloat(kind)) {
    std::vector<double> values(count);
    if (io::Error error =
            io::copyIn(view, block, io::ElementType::F64, values.data()))
      return toError(std::move(error));
    return Tensor::fromFloats(kind, view.shape, std::move(values));
  }
  std::vector<int64_t> values(count);
  if (io::Error error =
          io::copyIn(view, block, io::ElementType::I64, values.data()))
    return toError(std::move(error));
  return Tensor::fromInts(kind, view.shape, std::move(values));
}

llvm::Expected<NamedTensors> dist::interp::readTensors(StringRef path) {
  io::Expected<io::SafeTensorsFile> file =
      io::SafeTensorsFile::open(path.str());
  if (!file)
    return toError(file.takeError());
  NamedTensors tensors;
  for (const io::TensorView &view : file->getTensors()) {
    llvm::Expected<Tensor> tensor = read(view);
    if (!tensor)
      return tensor.takeError();
    tensors[view.name] = std::move(*tensor);
  }
  return tensors;
}

/// The bytes of `tensor` as a file of its type holds them.
static std::vector<std::byte> getBytes(const Tensor &tensor) {
  io::ElementType type = getFileType(tensor.getKind());
  int64_t size = io::getByteSize(type);
  std::vector<std::byte> bytes(tensor.getNumElements() * size);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (tensor.isFloat())
      io::storeFloat(type, tensor.floats()[i], &bytes[i * size]);
    else // little-endian truncation
      std::memcpy(&bytes[i * size], &tensor.ints()[i], size);
  }
  return bytes;
}

llvm::Error dist::interp::writeTensors(StringRef path,
                                       const NamedTensors &tensors) {
  std::vector<io::TensorSpec> specs;
  for (const auto &[name, tensor] : tensors)
    specs.push_back({name,
                     getFileType(tensor.getKind()),
                     {tensor.getShape().begin(), tensor.getShape().end()}});
  io::Expected<io::PartialFile> partial = io::PartialFile::create(path.str());
  if (!partial)
    return toError(partial.takeError());
  io::Expected<io::SafeTensorsWriter> writer =
      io::SafeTensorsWriter::create(partial->getPath(), specs, {});
  if (!writer)
    return toError(writer.takeError());
  for (const auto &[name, tensor] : tensors) {
    std::vector<std::byte> bytes = getBytes(tensor);
    if (io::Error error = writer->append(bytes.data(), bytes.size()))
      return toError(std::move(error));
  }
  if (io::Error error = writer->finish())
    return toError(std::move(error));
  if (io::Error error = partial->commit())
    return toError(std::move(error));
  return llvm::Error::success();
}
