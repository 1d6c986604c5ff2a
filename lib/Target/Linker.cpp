//===- Linker.cpp - From object files to an executable -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linker.h"
#include "dist/Target/LinkerConfig.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dist;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {
/// A file that is gone when this is, unless it was renamed.
class ScratchFile {
public:
  ScratchFile() = default;
  ScratchFile(const ScratchFile &) = delete;
  ~ScratchFile() {
    if (!name.empty())
      fs::remove(name);
  }

  /// Creates a file beside `target` with a name of its own.
  std::error_code create(StringRef target, StringRef suffix) {
    SmallString<128> model(target);
    model += "-%%%%%%";
    model += suffix;
    SmallString<128> created;
    if (std::error_code error = fs::createUniqueFile(model, created))
      return error;
    name = created;
    return {};
  }

  std::error_code rename(StringRef target) {
    if (std::error_code error = fs::rename(name, target))
      return error;
    name.clear();
    return {};
  }

  StringRef getName() const { return name; }

private:
  SmallString<128> name;
};
} // namespace

/// The runtime lies in `lib` beside the folder of this executable, in a build
/// as well as installed.
static std::string getRuntimePath() {
  static int anchor;
  SmallString<128> file(fs::getMainExecutable(nullptr, &anchor));
  path::remove_filename(file);
  path::append(file, "..", "lib", "libdist_runtime.a");
  path::remove_dots(file, /*remove_dot_dot=*/true);
  return file.str().str();
}

static std::error_code writeFile(StringRef name, StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream os(name, error);
  if (error)
    return error;
  os << content;
  os.close();
  error = os.error();
  os.clear_error();
  return error;
}

/// The first line of what the linker printed that tells of an error.
static std::string getFirstError(StringRef logName) {
  auto log = llvm::MemoryBuffer::getFile(logName);
  if (!log)
    return "";
  StringRef text = (*log)->getBuffer(), first = text.split('\n').first;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (line.contains("error") || line.contains("undefined"))
      return line.str();
    text = rest;
  }
  return first.str();
}

static LogicalResult runLinker(Location loc, ArrayRef<ScratchFile> objects,
                               StringRef program, StringRef log) {
  std::string runtime = getRuntimePath();
  if (!fs::exists(runtime))
    return emitError(loc, "the runtime is not at '")
           << runtime << "', where this tool expects it";
  auto linker = llvm::sys::findProgramByName(kLinker);
  if (!linker)
    return emitError(loc, "no linker '") << kLinker << "'";
  SmallVector<StringRef> arguments = {kLinker, "-o", program};
  for (const ScratchFile &object : objects)
    arguments.push_back(object.getName());
  arguments.push_back(runtime);
  SmallVector<StringRef> flags;
  StringRef(kLinkerFlags).split(flags, ';', -1, /*KeepEmpty=*/false);
  arguments.append(flags);
  std::string error;
  int status = llvm::sys::ExecuteAndWait(
      *linker, arguments, std::nullopt, {std::nullopt, log, log},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &error);
  if (status == 0)
    return success();
  return emitError(loc, "the linker failed: ")
         << (error.empty() ? getFirstError(log) : error);
}

LogicalResult dist::linkProgram(Location loc, ArrayRef<StringRef> objects,
                                StringRef target) {
  auto fail = [&](std::error_code error) -> LogicalResult {
    return emitError(loc, "cannot write '")
           << target << "': " << error.message();
  };
  if (fs::is_directory(target))
    return fail(std::make_error_code(std::errc::is_a_directory));
  std::vector<ScratchFile> files(objects.size());
  for (auto [file, object] : llvm::zip_equal(files, objects)) {
    if (std::error_code error = file.create(target, ".o"))
      return fail(error);
    if (std::error_code error = writeFile(file.getName(), object))
      return fail(error);
  }
  ScratchFile program, log;
  if (std::error_code error = program.create(target, ".tmp"))
    return fail(error);
  if (std::error_code error = log.create(target, ".log"))
    return fail(error);
  if (failed(runLinker(loc, files, program.getName(), log.getName())))
    return failure();
  if (std::error_code error = program.rename(target))
    return fail(error);
  return success();
}
