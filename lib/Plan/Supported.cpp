//===- Supported.cpp - What a plan may ask for by now ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every key is read and validated whether or not its feature exists, so that a
// plan is either carried out or refused by name. A feature that arrives takes
// its row out of the table below.
//
//===----------------------------------------------------------------------===//

#include "dist/Plan/Plan.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dist;

namespace {
struct Limit {
  StringRef key;
  bool (*exceeds)(const Plan &);
  /// What is asked for.
  std::string (*describe)(const Plan &);
  StringRef supported;
};
} // namespace

static bool hasOwnAxes(const ZeroPlan &zero) {
  return !zero.axes.empty() && (zero.axes.size() != 1 || zero.axes[0] != "dp");
}

/// The first axis of `plan` whose role is a feature to come, or null.
static const PlanAxis *lookupFutureAxis(const Plan &plan) {
  auto isFuture = [](const PlanAxis &axis) {
    return axis.size > 1 &&
           (axis.name == "pp" || axis.name == "cp" || axis.name == "ep");
  };
  const PlanAxis *axis = llvm::find_if(plan.mesh, isFuture);
  return axis == plan.mesh.end() ? nullptr : axis;
}

static const Limit kLimits[] = {
    {"mesh", [](const Plan &p) { return lookupFutureAxis(p) != nullptr; },
     [](const Plan &p) {
       const PlanAxis &axis = *lookupFutureAxis(p);
       return "axis " + axis.name + "=" + std::to_string(axis.size);
     },
     "dp, tp and axes that constraints name"},
    {"microbatches", [](const Plan &p) { return p.microbatches > 1; },
     [](const Plan &p) { return std::to_string(p.microbatches); }, "1"},
    {"zero", [](const Plan &p) { return p.zero.stage > 1; },
     [](const Plan &p) { return "stage " + std::to_string(p.zero.stage); },
     "stages 0 and 1"},
    {"zero", [](const Plan &p) { return hasOwnAxes(p.zero); },
     [](const Plan &p) { return "axes " + llvm::join(p.zero.axes, ","); },
     "axes dp"},
    {"zero", [](const Plan &p) { return p.zero.threshold > 0; },
     [](const Plan &p) {
       return "threshold " + std::to_string(p.zero.threshold);
     },
     "threshold 0"},
    {"zero",
     [](const Plan &p) {
       return p.zero.reduce != "microbatch" || p.zero.gather != "microbatch";
     },
     [](const Plan &) { return std::string("reduce or gather by step"); },
     "microbatch"},
    {"sequence", [](const Plan &p) { return p.sequence != "none"; },
     [](const Plan &p) { return p.sequence; }, "none"},
    {"context", [](const Plan &p) { return p.context.kind != "none"; },
     [](const Plan &p) {
       return p.context.kind == "both" ? "ulysses with ring" : p.context.kind;
     },
     "none"},
    {"schedule", [](const Plan &p) { return p.schedule != "1f1b"; },
     [](const Plan &p) { return p.schedule; }, "1f1b"},
    {"virtual_stages", [](const Plan &p) { return p.virtualStages > 1; },
     [](const Plan &p) { return std::to_string(p.virtualStages); }, "1"},
    {"stages", [](const Plan &p) { return !p.stages.empty(); },
     [](const Plan &) { return std::string("layers by hand"); }, "auto"},
    {"recompute", [](const Plan &p) { return p.recompute != "none"; },
     [](const Plan &p) { return p.recompute; }, "none"},
    {"precision", [](const Plan &p) { return p.precision == "bf16"; },
     [](const Plan &p) { return p.precision; },
     "f64, f32 for models in f32; absent, types are as written"},
    {"overlap", [](const Plan &p) { return p.overlap.kind == "manual"; },
     [](const Plan &) { return std::string("buckets and prefetch by hand"); },
     "auto and none"},
    {"offload", [](const Plan &p) { return p.offload != "none"; },
     [](const Plan &p) { return p.offload; }, "none"},
};

Error dist::checkSupported(const Plan &plan) {
  for (const Limit &limit : kLimits) {
    if (!limit.exceeds(plan))
      continue;
    auto origin = plan.origins.find(limit.key);
    return createStringError(
        inconvertibleErrorCode(),
        Twine(origin == plan.origins.end() ? "" : origin->second) +
            "error: " + limit.key + ": " + limit.describe(plan) +
            " is not supported yet (supported: " + limit.supported + ")");
  }
  return Error::success();
}
