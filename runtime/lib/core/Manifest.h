//===- Manifest.h - What a compiled program tells the runtime ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/manifest.md as plain structs. Everything is checked on reading: offsets
// lie in the arena, segments and communicators exist, counts fit their groups.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_CORE_MANIFEST_H
#define DIST_RUNTIME_CORE_MANIFEST_H

#include "core/DType.h"
#include "core/TensorLayout.h"

#include <variant>

namespace dist {

enum class Role {
  Param,
  State,
  Input,
  Loss,
  EvalLoss,
  Norm,
  Metric,
  Key,
  LearningRate,
  Step
};

/// A tensor in the arena of every rank. `shape` is the logical shape, the dims
/// of `layout` a factoring of it.
struct TensorInfo {
  std::string name;
  Role role = Role::Param;
  dist_dtype dtype = DIST_F32;
  std::vector<int64_t> shape;
  TensorLayout layout;
  int64_t offset = 0;            ///< bytes
  std::string init;              ///< empty: must be loaded
  dist_dtype written = DIST_F32; ///< the type in the model, of initial values
  bool noDecay = false, frozen = false;

  int64_t getNumElements() const; ///< of the whole tensor
  int64_t getLocalBytes() const;  ///< of a rank's padded block
};

enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Permute,
  Broadcast
};

const char *nameOf(CollectiveKind kind);

struct RunAction {
  int32_t segment;
  std::vector<int64_t> at; ///< arena offsets in bytes
  std::string op;          ///< for traces; may be empty
};

/// `at` and `counts` as the function of runtime.h takes them: the buffers of an
/// all-reduce, the buffer of a broadcast, else operand and result, one count.
struct CollectiveAction {
  CollectiveKind kind;
  int32_t comm = 0;
  dist_monoid monoid = DIST_SUM;
  dist_dtype dtype = DIST_F32;
  std::vector<int64_t> at, counts;
  int32_t root = 0;
  std::vector<int32_t> pairs;
  std::string op;
};

/// A gradient is whole at this point.
struct HookAction {
  TensorInfo gradient;
};

/// `bytes` from one place in the arena to another that does not overlap it.
struct CopyAction {
  int64_t bytes, from, to;
};

using Action =
    std::variant<RunAction, CollectiveAction, HookAction, CopyAction>;

struct Communicator {
  std::vector<AxisPart> parts;
  int64_t size = 1;
  std::string axes; ///< as the manifest names them: `dp, tp`
};

struct Manifest {
  std::string name;
  Mesh mesh;
  std::vector<std::string> cpuFeatures;
  int64_t threads = 0; ///< per rank; 0: share the cores
  int64_t arenaBytes = 0;
  int64_t batch = 0, seq = 0, vocab = 0;
  double flopsPerStep = 0;
  std::vector<Communicator> communicators;
  std::vector<TensorInfo> tensors;
  double lr = 0; ///< of the optimizer
  std::vector<Action> prologue, step, eval;

  /// Reads `text`; an error says where in it what is and what was expected.
  static io::Expected<Manifest> parse(std::string_view text,
                                      int64_t numSegments);

  /// The first tensor of that role, or null.
  const TensorInfo *lookup(Role role) const;
};

} // namespace dist

#endif // DIST_RUNTIME_CORE_MANIFEST_H
