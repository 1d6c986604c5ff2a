//===- Plan.h - How a model is to be distributed ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_PLAN_PLAN_H
#define DIST_PLAN_PLAN_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dist {

/// One axis of the mesh and its number of devices.
struct PlanAxis {
  std::string name;
  int64_t size = 1;
};

struct ZeroPlan {
  int64_t stage = 0;                      ///< 0 to 3
  llvm::SmallVector<std::string, 0> axes; ///< sub-axes as `dp:(2)4`; empty: dp
  std::string reduce = "microbatch";      ///< or `step`
  std::string gather = "microbatch";      ///< or `step`
  int64_t threshold = 0; ///< elements below which a tensor stays whole
};

struct ContextPlan {
  std::string kind = "none"; ///< none, ulysses, ring, both
  std::string ulysses, ring; ///< the axes of each
};

struct OverlapPlan {
  std::string kind = "auto"; ///< auto, none, manual
  int64_t bucketBytes = 0, prefetch = 0;
};

struct OptimizerPlan {
  std::string name = "adamw"; ///< or `sgd`
  double lr = 3e-4, beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double weightDecay = 0.1;
  double momentum = 0;            ///< of sgd
  std::optional<double> clipNorm; ///< absent: no clipping
};

/// The user's wish for the parameters that a glob names.
struct ConstraintPlan {
  std::string param;    ///< a glob whose `*` does not cross dots
  std::string sharding; ///< `[[], ["tp"]]`
  std::string where;    ///< `plan.yaml:3:7: `; empty if it is a flag
};

/// How a model is to be distributed: every key of a plan file with its default.
struct Plan {
  llvm::SmallVector<PlanAxis, 0> mesh; ///< major to minor; empty: one device
  int64_t microbatches = 1;
  ZeroPlan zero;
  std::string sequence = "none"; ///< or `megatron`
  ContextPlan context;
  std::string schedule = "1f1b"; ///< a name or a file
  int64_t virtualStages = 1;
  llvm::SmallVector<int64_t, 0> stages; ///< layers of each; empty: auto
  std::string recompute = "none";       ///< or `selective`, `full`
  std::string precision;                ///< f32, bf16, f64; empty: as written
  int64_t threads = 0;                  ///< per rank on the host; 0: auto
  OverlapPlan overlap;
  std::string offload = "none"; ///< or `optimizer`, `parameters`
  OptimizerPlan optimizer;
  llvm::SmallVector<ConstraintPlan, 0> constraints;

  /// Where each key that was given stands: what an error on it begins with.
  llvm::StringMap<std::string> origins;

  int64_t getNumDevices() const;
  /// `dp=2,tp=4`, as the flag takes it.
  std::string getMeshText() const;
  /// `[{param: 'h.*.up.weight', sharding: '[[], ["tp"]]'}]`, as the flag takes
  /// it; empty without constraints.
  std::string getConstraintsText() const;
  /// Where each of them stands.
  llvm::SmallVector<std::string> getConstraintOrigins() const;
};

/// A key of the plan and what it says.
struct PlanKey {
  llvm::StringRef name, help;
};

/// Every key, in the order of the documentation. As a flag a key may have `-`
/// for `_`.
llvm::ArrayRef<PlanKey> getPlanKeys();

/// Reads the YAML file `path` over `plan`. The error names file, line, key and
/// what is allowed.
llvm::Error readPlanFile(llvm::StringRef path, Plan &plan);

/// Reads the flag form of `key` over `plan`: a value, a list `5,6,6`, a map
/// `dp=2,tp=2`, or YAML that begins with `[` or `{`.
llvm::Error readPlanFlag(llvm::StringRef key, llvm::StringRef value,
                         Plan &plan);

/// Fails, by name, on the first thing that the plan asks for and that the
/// compiler cannot do yet.
llvm::Error checkSupported(const Plan &plan);

/// True if `glob` names `name`: `*` stands for any text without a dot.
bool matchesGlob(llvm::StringRef glob, llvm::StringRef name);

} // namespace dist

#endif // DIST_PLAN_PLAN_H
