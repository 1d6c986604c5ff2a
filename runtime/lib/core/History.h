//===- History.h - The last operations of a rank ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_HISTORY_H
#define DIST_RUNTIME_CORE_HISTORY_H

#include <array>
#include <atomic>
#include <cstdint>

namespace dist {

/// One thing that a rank began. The strings outlive the run.
struct Operation {
  int64_t step = 0;
  const char *kind = ""; ///< `segment`, `all_reduce`, ...
  const char *name = ""; ///< the op of a collective
  const char *axes = ""; ///< of its communicator
  int64_t count = 0;     ///< elements of a collective, or the segment's number
};

/// A ring of the last 100 operations, written by its rank's thread and read
/// once that has stopped. What the rank is at may be read at any time.
class History {
public:
  static constexpr int64_t kCapacity = 100;

  void begin(const Operation &operation) {
    ring[total++ % kCapacity] = operation;
    kind.store(operation.kind, std::memory_order_relaxed);
    name.store(operation.name, std::memory_order_relaxed);
  }

  const char *getCurrentKind() const {
    return kind.load(std::memory_order_relaxed);
  }
  const char *getCurrentName() const {
    return name.load(std::memory_order_relaxed);
  }

  /// Calls `body(operation)`, oldest first.
  template <typename Body>
  void forEach(Body &&body) const {
    for (int64_t i = total < kCapacity ? 0 : total - kCapacity; i < total; ++i)
      body(ring[i % kCapacity]);
  }

private:
  std::array<Operation, kCapacity> ring;
  int64_t total = 0;
  std::atomic<const char *> kind = "start", name = "";
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_HISTORY_H
