//===- Plan.cpp - How a model is to be distributed ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Plan/Plan.h"
#include "PlanNode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;
using namespace dist;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `'f32', 'bf16' and 'f64'`
static std::string list(ArrayRef<StringRef> names) {
  std::string text;
  for (auto [index, name] : llvm::enumerate(names))
    text += (index == 0                  ? ""
             : index + 1 == names.size() ? " and "
                                         : ", ") +
            name.str();
  return text;
}

/// `; did you mean 'tp'?` where a name is near, and what is allowed.
static std::string suggest(StringRef given, ArrayRef<StringRef> names) {
  StringRef best;
  unsigned distance = 3;
  for (StringRef name : names)
    if (unsigned d = given.edit_distance(name, true, distance); d < distance) {
      best = name;
      distance = d;
    }
  std::string text;
  if (!best.empty())
    text = ("; did you mean '" + best + "'?").str();
  return text + " (known are " + list(names) + ")";
}

static Error readText(const PlanNode &node, StringRef key, std::string &out) {
  if (node.kind != PlanNode::Kind::Scalar || node.text.empty())
    return node.fail(key + ": expected a single value");
  out = node.text;
  return Error::success();
}

static Error readChoice(const PlanNode &node, StringRef key, std::string &out,
                        ArrayRef<StringRef> allowed) {
  if (node.kind == PlanNode::Kind::Scalar &&
      llvm::is_contained(allowed, StringRef(node.text))) {
    out = node.text;
    return Error::success();
  }
  if (node.kind != PlanNode::Kind::Scalar)
    return node.fail(key + ": expected one of " + list(allowed));
  return node.fail(key + ": unknown value '" + node.text + "'" +
                   suggest(node.text, allowed));
}

static Error readInteger(const PlanNode &node, StringRef key, int64_t &out,
                         int64_t least, int64_t most = int64_t(1) << 40) {
  int64_t value;
  if (node.kind != PlanNode::Kind::Scalar ||
      StringRef(node.text).getAsInteger(10, value))
    return node.fail(key + ": expected an integer" +
                     (node.text.empty() ? "" : ", not '" + node.text + "'"));
  if (value < least || value > most)
    return node.fail(key + ": is " + node.text + ", but must lie in [" +
                     Twine(least) + ", " + Twine(most) + "]");
  out = value;
  return Error::success();
}

static Error readNumber(const PlanNode &node, StringRef key, double &out,
                        function_ref<bool(double)> isAllowed,
                        StringRef allowed) {
  double value;
  if (node.kind != PlanNode::Kind::Scalar ||
      StringRef(node.text).getAsDouble(value))
    return node.fail(key + ": expected a number" +
                     (node.text.empty() ? "" : ", not '" + node.text + "'"));
  if (!std::isfinite(value) || !isAllowed(value))
    return node.fail(key + ": is " + node.text + ", but must be " + allowed);
  out = value;
  return Error::success();
}

/// An integer of 1 or more, or `auto`, which is 0.
static Error readAutoInteger(const PlanNode &node, StringRef key,
                             int64_t &out) {
  if (node.text == "auto") {
    out = 0;
    return Error::success();
  }
  return readInteger(node, key, out, 1, 1 << 20);
}

namespace {
/// A key of a nested map.
struct Field {
  StringRef name;
  std::function<Error(const PlanNode &, StringRef)> read;
};
} // namespace

static Error readFields(const PlanNode &node, StringRef key,
                        ArrayRef<Field> fields) {
  auto names =
      llvm::map_to_vector(fields, [](const Field &f) { return f.name; });
  if (node.kind != PlanNode::Kind::Map)
    return node.fail(key + ": expected a map with some of " + list(names));
  for (const PlanEntry &entry : node.entries) {
    const Field *field = llvm::find_if(
        fields, [&](const Field &f) { return f.name == entry.key; });
    if (field == fields.end()) {
      PlanNode at;
      at.where = entry.where;
      return at.fail(key + ": unknown key '" + entry.key + "'" +
                     suggest(entry.key, names));
    }
    if (Error error = field->read(entry.value, (key + "." + entry.key).str()))
      return error;
  }
  return Error::success();
}

static Field integer(StringRef name, int64_t &out, int64_t least) {
  return {name, [&out, least](const PlanNode &node, StringRef key) {
            return readInteger(node, key, out, least);
          }};
}

static Field choice(StringRef name, std::string &out,
                    ArrayRef<StringRef> allowed) {
  return {name, [&out, allowed](const PlanNode &node, StringRef key) {
            return readChoice(node, key, out, allowed);
          }};
}

static Field text(StringRef name, std::string &out) {
  return {name, [&out](const PlanNode &node, StringRef key) {
            return readText(node, key, out);
          }};
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static bool isAxisName(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

static Error readMesh(const PlanNode &node, Plan &plan) {
  constexpr int64_t kMostDevices = 1 << 20;
  if (node.kind != PlanNode::Kind::Map)
    return node.fail("mesh: expected axes and their sizes, as in dp=2,tp=2");
  plan.mesh.clear();
  int64_t devices = 1;
  for (const PlanEntry &entry : node.entries) {
    PlanAxis axis{entry.key, 1};
    if (!isAxisName(axis.name))
      return entry.value.fail("mesh: '" + axis.name +
                              "' is not a name for an axis: use letters, "
                              "digits and _");
    if (Error error = readInteger(entry.value, "mesh." + axis.name, axis.size,
                                  1, kMostDevices))
      return error;
    devices *= axis.size;
    if (devices > kMostDevices)
      return node.fail("mesh: has more than " + Twine(kMostDevices) +
                       " devices");
    plan.mesh.push_back(std::move(axis));
  }
  return Error::success();
}

static Error readMicrobatches(const PlanNode &node, Plan &plan) {
  return readInteger(node, "microbatches", plan.microbatches, 1);
}

static Error readAxes(const PlanNode &node, StringRef key,
                      SmallVector<std::string, 0> &axes) {
  axes.clear();
  if (node.kind == PlanNode::Kind::Scalar)
    return readText(node, key, axes.emplace_back());
  if (node.kind != PlanNode::Kind::List || node.entries.empty())
    return node.fail(key + ": expected a list of axes");
  for (const PlanEntry &entry : node.entries)
    if (Error error = readText(entry.value, key, axes.emplace_back()))
      return error;
  return Error::success();
}

static Error readZero(const PlanNode &node, Plan &plan) {
  static constexpr StringRef kMoments[] = {"microbatch", "step"};
  ZeroPlan &zero = plan.zero;
  zero = {};
  if (node.kind == PlanNode::Kind::Scalar)
    return readInteger(node, "zero", zero.stage, 0, 3);
  Field stage{"stage", [&](const PlanNode &value, StringRef key) {
                return readInteger(value, key, zero.stage, 0, 3);
              }};
  Field axes{"axes", [&](const PlanNode &value, StringRef key) {
               return readAxes(value, key, zero.axes);
             }};
  return readFields(node, "zero",
                    {stage, axes, choice("reduce", zero.reduce, kMoments),
                     choice("gather", zero.gather, kMoments),
                     integer("threshold", zero.threshold, 0)});
}

static Error readSequence(const PlanNode &node, Plan &plan) {
  return readChoice(node, "sequence", plan.sequence, {"none", "megatron"});
}

static Error readContext(const PlanNode &node, Plan &plan) {
  plan.context = {};
  if (node.kind != PlanNode::Kind::Map)
    return readChoice(node, "context", plan.context.kind,
                      {"none", "ulysses", "ring"});
  plan.context.kind = "both";
  if (Error error = readFields(node, "context",
                               {text("ulysses", plan.context.ulysses),
                                text("ring", plan.context.ring)}))
    return error;
  if (plan.context.ulysses.empty() || plan.context.ring.empty())
    return node.fail("context: a map names an axis for ulysses and one for "
                     "ring");
  return Error::success();
}

static Error readSchedule(const PlanNode &node, Plan &plan) {
  static constexpr StringRef kNames[] = {
      "gpipe", "1f1b", "eager-1f1b", "interleaved", "looped-bfs", "zb-h1",
      "zb-h2", "zb-v", "dualpipe",   "dualpipev",   "auto"};
  bool isFile =
      StringRef(node.text).contains('/') || StringRef(node.text).contains('.');
  return isFile ? readText(node, "schedule", plan.schedule)
                : readChoice(node, "schedule", plan.schedule, kNames);
}

static Error readVirtualStages(const PlanNode &node, Plan &plan) {
  return readInteger(node, "virtual_stages", plan.virtualStages, 1, 1 << 10);
}

static Error readStages(const PlanNode &node, Plan &plan) {
  plan.stages.clear();
  if (node.text == "auto")
    return Error::success();
  if (node.kind != PlanNode::Kind::List || node.entries.empty())
    return node.fail("stages: expected auto or the layers of each stage, as "
                     "in 5,6,6,5");
  for (const PlanEntry &entry : node.entries)
    if (Error error =
            readInteger(entry.value, "stages", plan.stages.emplace_back(), 0))
      return error;
  return Error::success();
}

static Error readRecompute(const PlanNode &node, Plan &plan) {
  return readChoice(node, "recompute", plan.recompute,
                    {"none", "selective", "full"});
}

static Error readPrecision(const PlanNode &node, Plan &plan) {
  return readChoice(node, "precision", plan.precision, {"f32", "bf16", "f64"});
}

static Error readThreads(const PlanNode &node, Plan &plan) {
  return readAutoInteger(node, "threads", plan.threads);
}

static Error readOverlap(const PlanNode &node, Plan &plan) {
  plan.overlap = {};
  if (node.kind != PlanNode::Kind::Map)
    return readChoice(node, "overlap", plan.overlap.kind, {"auto", "none"});
  plan.overlap.kind = "manual";
  return readFields(node, "overlap",
                    {integer("bucket_bytes", plan.overlap.bucketBytes, 1),
                     integer("prefetch", plan.overlap.prefetch, 0)});
}

static Error readOffload(const PlanNode &node, Plan &plan) {
  return readChoice(node, "offload", plan.offload,
                    {"none", "optimizer", "parameters"});
}

/// AdamW's defaults are those of language models; SGD is plain until asked.
static OptimizerPlan getDefaults(StringRef name) {
  OptimizerPlan optimizer;
  optimizer.name = name.str();
  if (name == "sgd")
    optimizer.weightDecay = 0;
  return optimizer;
}

static Field number(StringRef name, double &out, bool (*isAllowed)(double),
                    StringRef allowed) {
  return {name, [=, &out](const PlanNode &node, StringRef key) {
            return readNumber(node, key, out, isAllowed, allowed);
          }};
}

static Error readOptimizer(const PlanNode &node, Plan &plan) {
  static constexpr StringRef kNames[] = {"adamw", "sgd"};
  OptimizerPlan &optimizer = plan.optimizer;
  // The name first: the other keys change its defaults. What an earlier file
  // said of the same optimizer stays.
  const PlanNode *named = node.kind == PlanNode::Kind::Scalar ? &node : nullptr;
  for (const PlanEntry &entry : node.entries)
    if (entry.key == "name")
      named = &entry.value;
  std::string name = optimizer.name;
  if (named)
    if (Error error = readChoice(*named, "optimizer.name", name, kNames))
      return error;
  if (name != optimizer.name)
    optimizer = getDefaults(name);
  if (node.kind == PlanNode::Kind::Scalar)
    return Error::success();
  auto isFraction = [](double x) { return x >= 0 && x < 1; };
  auto isPositive = [](double x) { return x > 0; };
  auto isNotNegative = [](double x) { return x >= 0; };
  double clip = 0;
  SmallVector<Field> fields = {
      choice("name", name, kNames),
      number("lr", optimizer.lr, isNotNegative, "0 or more"),
      number("weight_decay", optimizer.weightDecay, isNotNegative, "0 or more"),
      number("clip_norm", clip, isPositive, "more than 0")};
  if (name == "adamw")
    fields.append({number("beta1", optimizer.beta1, isFraction, "in [0, 1)"),
                   number("beta2", optimizer.beta2, isFraction, "in [0, 1)"),
                   number("eps", optimizer.eps, isPositive, "more than 0")});
  else
    fields.push_back(
        number("momentum", optimizer.momentum, isFraction, "in [0, 1)"));
  if (Error error = readFields(node, "optimizer", fields))
    return error;
  if (clip > 0)
    optimizer.clipNorm = clip;
  return Error::success();
}

static Error readConstraints(const PlanNode &node, Plan &plan) {
  plan.constraints.clear();
  if (node.kind == PlanNode::Kind::Map) { // the flag form: glob=sharding
    for (const PlanEntry &entry : node.entries) {
      plan.constraints.push_back({entry.key, "", ""});
      if (Error error = readText(entry.value, "constraints",
                                 plan.constraints.back().sharding))
        return error;
    }
    return Error::success();
  }
  if (node.kind != PlanNode::Kind::List)
    return node.fail("constraints: expected a list of {param: GLOB, sharding: "
                     "'[[], [\"tp\"]]'}");
  for (const PlanEntry &entry : node.entries) {
    ConstraintPlan &wish = plan.constraints.emplace_back();
    wish.where = entry.value.where;
    if (Error error = readFields(
            entry.value, "constraints",
            {text("param", wish.param), text("sharding", wish.sharding)}))
      return error;
    if (wish.param.empty() || wish.sharding.empty())
      return entry.value.fail("constraints: an entry needs both param and "
                              "sharding");
  }
  return Error::success();
}

namespace {
struct Reader {
  PlanKey key;
  Error (*read)(const PlanNode &, Plan &);
};
} // namespace

static constexpr Reader kReaders[] = {
    {{"mesh", "axes and sizes, major to minor: dp=2,tp=2"}, readMesh},
    {{"microbatches", "parts of the batch, one after the other"},
     readMicrobatches},
    {{"zero", "ZeRO stage 0 to 3, or a map"}, readZero},
    {{"sequence", "none or megatron"}, readSequence},
    {{"context", "none, ulysses or ring"}, readContext},
    {{"schedule", "pipeline schedule: a name or a file"}, readSchedule},
    {{"virtual_stages", "stages per pipeline rank"}, readVirtualStages},
    {{"stages", "auto, or layers of each stage: 5,6,6,5"}, readStages},
    {{"recompute", "none, selective or full"}, readRecompute},
    {{"precision", "f32, bf16 or f64; absent: as written"}, readPrecision},
    {{"threads", "cores per rank on the host, or auto"}, readThreads},
    {{"overlap", "auto, none or a map"}, readOverlap},
    {{"offload", "none, optimizer or parameters"}, readOffload},
    {{"optimizer", "name=adamw,lr=3e-4,..."}, readOptimizer},
    {{"constraints", "shardings of parameters: GLOB=[[], [\"tp\"]]"},
     readConstraints}};

ArrayRef<PlanKey> dist::getPlanKeys() {
  static const auto keys = llvm::map_to_vector(
      kReaders, [](const Reader &reader) { return reader.key; });
  return keys;
}

static Error readKey(StringRef key, StringRef where, const PlanNode &value,
                     Plan &plan) {
  auto isMeant = [&](const Reader &r) { return r.key.name == key; };
  if (const Reader *reader = llvm::find_if(kReaders, isMeant);
      reader != std::end(kReaders)) {
    plan.origins[key] = value.where;
    return reader->read(value, plan);
  }
  PlanNode at;
  at.where = where.str();
  return at.fail(
      "unknown key '" + key + "'" +
      suggest(key, llvm::map_to_vector(
                       kReaders, [](const Reader &r) { return r.key.name; })));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

Error dist::readPlanFile(StringRef path, Plan &plan) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError(buffer.getError(),
                             "error: cannot read the plan '" + path +
                                 "': " + buffer.getError().message());
  Expected<PlanNode> root = parseYaml(path, (*buffer)->getBuffer());
  if (!root)
    return root.takeError();
  if (root->kind != PlanNode::Kind::Map)
    return root->fail("a plan is a map from keys to values");
  for (const PlanEntry &entry : root->entries)
    if (Error error = readKey(entry.key, entry.where, entry.value, plan))
      return error;
  return Error::success();
}

Error dist::readPlanFlag(StringRef key, StringRef value, Plan &plan) {
  std::string name = key.str();
  llvm::replace(name, '-', '_');
  Expected<PlanNode> node = parseFlag(("--" + key).str(), value);
  if (!node)
    return node.takeError();
  return readKey(name, "", *node, plan);
}
