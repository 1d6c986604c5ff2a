//===- Trace.h - When each operation of a rank ran --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_TRACE_H
#define DIST_RUNTIME_CORE_TRACE_H

#include "core/History.h"
#include "io/Error.h"

#include <string>
#include <vector>

namespace dist {

/// Nanoseconds of the steady clock.
int64_t now();

/// The operations of one rank with their times, the last `capacity` of them.
/// Written by its rank's thread; allocates on construction only.
class Trace {
public:
  explicit Trace(int64_t capacity) : events(capacity) {}

  void add(const Operation &operation, int64_t begin, int64_t end) {
    if (!events.empty())
      events[total++ % events.size()] = {operation, begin, end};
  }

  /// Calls `body(operation, begin, end)`, oldest first.
  template <typename Body>
  void forEach(Body &&body) const {
    size_t first = total < events.size() ? 0 : total - events.size();
    for (size_t i = first; i < total; ++i) {
      const Event &event = events[i % events.size()];
      body(event.operation, event.begin, event.end);
    }
  }

private:
  struct Event {
    Operation operation;
    int64_t begin, end;
  };

  std::vector<Event> events;
  size_t total = 0;
};

/// Writes the traces of all ranks as Chrome's and Perfetto's JSON, one track a
/// rank, microseconds from `origin`.
io::Error writeTraces(const std::string &path, const std::vector<Trace> &traces,
                      int64_t origin);

} // namespace dist

#endif // DIST_RUNTIME_CORE_TRACE_H
