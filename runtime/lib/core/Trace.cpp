//===- Trace.cpp - When each operation of a rank ran ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Trace.h"

#include "io/PartialFile.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace dist;

int64_t dist::now() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

/// `text` as a JSON string, whatever bytes it has.
static std::string quote(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', true,
                                   nlohmann::json::error_handler_t::replace);
}

static void writeEvent(std::FILE *file, size_t rank, const Operation &operation,
                       double begin, double duration) {
  std::string name = *operation.name ? operation.name
                                     : std::string(operation.kind) + " " +
                                           std::to_string(operation.count);
  std::fprintf(file,
               ",\n{\"name\":%s,\"cat\":%s,\"ph\":\"X\",\"pid\":0,"
               "\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f,"
               "\"args\":{\"step\":%lld,\"axes\":%s,\"count\":%lld}}",
               quote(name).c_str(), quote(operation.kind).c_str(), rank, begin,
               duration, static_cast<long long>(operation.step),
               quote(operation.axes).c_str(),
               static_cast<long long>(operation.count));
}

io::Error dist::writeTraces(const std::string &path,
                            const std::vector<Trace> &traces, int64_t origin) {
  io::Expected<io::PartialFile> partial = io::PartialFile::create(path);
  if (!partial)
    return partial.takeError();
  std::FILE *file = std::fopen(partial->getPath().c_str(), "w");
  if (!file)
    return io::makeError("cannot write trace '%s': %s", path.c_str(),
                         std::strerror(errno));
  std::fprintf(file, "{\"traceEvents\":[\n{\"name\":\"process_name\","
                     "\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"ranks\"}}");
  for (size_t rank = 0; rank < traces.size(); ++rank)
    traces[rank].forEach(
        [&](const Operation &operation, int64_t begin, int64_t end) {
          writeEvent(file, rank, operation, (begin - origin) * 1e-3,
                     (end - begin) * 1e-3);
        });
  std::fprintf(file, "\n]}\n");
  bool failed = std::ferror(file) != 0;
  failed |= std::fclose(file) != 0;
  if (failed)
    return io::makeError("cannot write trace '%s': %s", path.c_str(),
                         std::strerror(errno));
  return partial->commit();
}
