//===- Manifest.cpp - What a compiled program tells the runtime -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "TensorEntry.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Dialect/NN/IR/Written.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dist;
namespace json = llvm::json;

namespace {
class ManifestBuilder {
public:
  ManifestBuilder(ModuleOp module, const MemoryPlan &plan)
      : module(module), plan(plan) {
    for (const std::string &name : listSegments(plan))
      segmentOf.try_emplace(name, segmentOf.size());
  }

  LogicalResult addTensors();
  LogicalResult addActions();
  LogicalResult addCommunicators();
  void addMesh();
  void addAmounts();
  void addOptions(const CompileOptions &options,
                  ArrayRef<std::string> cpuFeatures);
  json::Object take() { return std::move(document); }

private:
  LogicalResult addArgument(unsigned index);
  LogicalResult addResult(unsigned index);
  LogicalResult addEvalLoss();
  LogicalResult add(json::Object tensor, StringRef role, std::string name,
                    int64_t offset);
  FailureOr<json::Array> getActions(const EntryPlan &entry);
  FailureOr<json::Object> getHook(func::FuncOp entry, const PlannedHook &hook);

  ModuleOp module;
  const MemoryPlan &plan;
  json::Object document;
  json::Array tensors;
  llvm::StringSet<> names;
  llvm::StringMap<int64_t> segmentOf;
};

/// What an attribute of the step makes of a tensor.
struct RoleMark {
  StringRef attribute, role;
  StringRef name; ///< empty: the attribute's value
};
} // namespace

static constexpr StringLiteral kInputRole = "input";
static constexpr RoleMark kArgumentMarks[] = {
    {nn::kParamAttrName, "param", ""},    {nn::kStateAttrName, "state", ""},
    {nn::kInputAttrName, kInputRole, ""}, {nn::kKeyAttrName, "key", "key"},
    {nn::kLrAttrName, "lr", "lr"},        {nn::kStepAttrName, "step", "step"}};
static constexpr RoleMark kResultMarks[] = {
    {nn::kLossAttrName, "loss", "loss"},
    {nn::kNormAttrName, "norm", "grad_norm"},
    {nn::kMetricAttrName, "metric", ""}};

/// The first of `marks` in `attrs`, with its name in full.
static std::optional<std::pair<StringRef, std::string>>
lookupRole(DictionaryAttr attrs, ArrayRef<RoleMark> marks) {
  for (const RoleMark &mark : marks)
    if (Attribute value = attrs ? attrs.get(mark.attribute) : Attribute()) {
      auto name = dyn_cast<StringAttr>(value);
      return std::pair(mark.role, mark.name.empty() && name ? name.str()
                                                            : mark.name.str());
    }
  return std::nullopt;
}

LogicalResult ManifestBuilder::add(json::Object tensor, StringRef role,
                                   std::string name, int64_t offset) {
  bool isNamedByUser =
      llvm::is_contained({"param", "state", "input", "metric"}, role);
  while (!isNamedByUser && names.contains(name))
    name += "'";
  if (!json::isUTF8(name))
    return plan.step.entry->emitOpError("has a name that is not UTF-8: '")
           << name << "'";
  if (!names.insert(name).second)
    return plan.step.entry->emitOpError("has two tensors named '")
           << name << "'";
  tensor["name"] = name;
  tensor["role"] = role;
  tensor["offset"] = offset;
  tensors.push_back(std::move(tensor));
  return success();
}

LogicalResult ManifestBuilder::addArgument(unsigned index) {
  func::FuncOp entry = plan.step.entry;
  auto role = lookupRole(entry.getArgAttrDict(index), kArgumentMarks);
  auto described = describeArgument(entry, index);
  if (failed(described))
    return failure();
  json::Object tensor = described->toJson();
  if (auto init = entry.getArgAttrOfType<StringAttr>(index, nn::kInitAttrName))
    tensor["init"] = json::fixUTF8(init.getValue());
  if (auto written =
          entry.getArgAttrOfType<TypeAttr>(index, nn::kWrittenAttrName))
    tensor["init_dtype"] = getDType(written.getValue());
  if (entry.getArgAttr(index, nn::kNoDecayAttrName))
    tensor["no_decay"] = true;
  if (entry.getArgAttr(index, nn::kFrozenAttrName))
    tensor["frozen"] = true;
  bool isBatch = role->first == kInputRole && described->shape.size() == 2 &&
                 (role->second == "tokens" || role->second == "targets");
  if (isBatch) {
    document["batch"] = described->shape[0];
    document["seq"] = described->shape[1];
  }
  return add(std::move(tensor), role->first, role->second,
             plan.step.arguments[index]);
}

LogicalResult ManifestBuilder::addResult(unsigned index) {
  func::FuncOp step = plan.step.entry;
  auto role = lookupRole(step.getResultAttrDict(index), kResultMarks);
  auto described = describeResult(step, index);
  if (failed(described))
    return failure();
  return add(described->toJson(), role->first, role->second,
             plan.step.results[index]);
}

LogicalResult ManifestBuilder::addEvalLoss() {
  auto described = describeResult(plan.eval->entry, 0);
  if (failed(described))
    return failure();
  return add(described->toJson(), "eval_loss", "eval_loss",
             plan.eval->results[0]);
}

LogicalResult ManifestBuilder::addTensors() {
  func::FuncOp step = plan.step.entry;
  // Names of the user's first: the program's own make way.
  auto isOwn = [&](unsigned index) {
    return step.getArgAttr(index, nn::kKeyAttrName) ||
           step.getArgAttr(index, nn::kLrAttrName) ||
           step.getArgAttr(index, nn::kStepAttrName);
  };
  for (bool own : {false, true})
    for (unsigned index = 0; index < step.getNumArguments(); ++index)
      if (isOwn(index) == own && failed(addArgument(index)))
        return failure();
  for (StringRef mark :
       {nn::kMetricAttrName, nn::kLossAttrName, nn::kNormAttrName})
    for (unsigned index = 0; index < step.getNumResults(); ++index)
      if (step.getResultAttr(index, mark) && failed(addResult(index)))
        return failure();
  if (plan.eval && failed(addEvalLoss()))
    return failure();
  document["tensors"] = std::move(tensors);
  return success();
}

FailureOr<json::Object> ManifestBuilder::getHook(func::FuncOp entry,
                                                 const PlannedHook &hook) {
  auto described = describeResult(entry, hook.result);
  if (failed(described))
    return failure();
  auto name =
      entry.getResultAttrOfType<StringAttr>(hook.result, nn::kGradAttrName);
  json::Object action = described->toJson();
  action["hook"] = "grad";
  action["name"] = name.getValue();
  action["at"] = json::Array{hook.offset};
  return action;
}

FailureOr<json::Array> ManifestBuilder::getActions(const EntryPlan &entry) {
  json::Array actions;
  ArrayRef<PlannedHook> hooks = entry.hooks;
  auto addHooksOf = [&](int64_t call) -> LogicalResult {
    for (; !hooks.empty() && hooks[0].call == call;
         hooks = hooks.drop_front()) {
      FailureOr<json::Object> hook = getHook(entry.entry, hooks[0]);
      if (failed(hook))
        return failure();
      actions.push_back(std::move(*hook));
    }
    return success();
  };
  if (failed(addHooksOf(-1)))
    return failure();
  for (auto [index, planned] : llvm::enumerate(entry.calls)) {
    func::CallOp call = planned.call;
    actions.push_back(json::Object{{"run", segmentOf.lookup(call.getCallee())},
                                   {"at", json::Array(planned.offsets)},
                                   {"op", call.getCallee()}});
    if (failed(addHooksOf(index)))
      return failure();
  }
  for (const PlannedCopy &copy : entry.copies)
    actions.push_back(json::Object{{"copy", copy.bytes},
                                   {"at", json::Array{copy.from, copy.to}}});
  return actions;
}

LogicalResult ManifestBuilder::addActions() {
  FailureOr<json::Array> step = getActions(plan.step);
  if (failed(step))
    return failure();
  document["step"] = std::move(*step);
  if (!plan.eval)
    return success();
  FailureOr<json::Array> eval = getActions(*plan.eval);
  if (failed(eval))
    return failure();
  document["eval"] = std::move(*eval);
  return success();
}

LogicalResult ManifestBuilder::addCommunicators() {
  json::Array communicators;
  auto groups = module->getAttrOfType<ArrayAttr>(kCommunicatorsAttrName);
  for (Attribute group : groups ? groups.getValue() : ArrayRef<Attribute>()) {
    auto names = dyn_cast<ArrayAttr>(group);
    json::Array axes;
    for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>())
      if (auto text = dyn_cast<StringAttr>(name))
        axes.push_back(text.getValue());
    if (!names || axes.size() != names.size())
      return module.emitError("'dist.communicators' has ")
             << group << ", expected an array of axes";
    communicators.push_back(json::Object{{"axes", std::move(axes)}});
  }
  document["communicators"] = std::move(communicators);
  return success();
}

void ManifestBuilder::addMesh() {
  json::Array axes;
  if (MeshOp mesh = lookupMesh(module))
    for (auto [name, size] : llvm::zip_equal(
             mesh.getAxes().getAsRange<StringAttr>(), mesh.getShape()))
      axes.push_back(json::Array{name.getValue(), size});
  document["mesh"] = std::move(axes);
}

void ManifestBuilder::addAmounts() {
  document["arena_bytes"] = plan.arenaBytes;
  if (auto vocab = module->getAttrOfType<IntegerAttr>(kVocabAttrName))
    document["vocab"] = vocab.getInt();
  Attribute flops = module->getAttr(kFlopsAttrName);
  if (auto integer = dyn_cast_if_present<IntegerAttr>(flops))
    document["flops_per_step"] = integer.getInt();
  else if (auto real = dyn_cast_if_present<FloatAttr>(flops))
    document["flops_per_step"] = real.getValueAsDouble();
}

void ManifestBuilder::addOptions(const CompileOptions &options,
                                 ArrayRef<std::string> cpuFeatures) {
  document["name"] = json::fixUTF8(options.name);
  document["threads"] = options.threads;
  document["cpu_features"] = json::Array(cpuFeatures);
  document["optimizer"] =
      json::Object{{"name", options.optimizer}, {"lr", options.lr}};
}

std::vector<std::string> dist::listSegments(const MemoryPlan &plan) {
  std::vector<std::string> segments;
  llvm::StringSet<> seen;
  auto add = [&](const EntryPlan &entry) {
    for (const PlannedCall &planned : entry.calls) {
      func::CallOp call = planned.call;
      if (seen.insert(call.getCallee()).second)
        segments.push_back(call.getCallee().str());
    }
  };
  add(plan.step);
  if (plan.eval)
    add(*plan.eval);
  return segments;
}

FailureOr<std::string> dist::buildManifest(ModuleOp module,
                                           const MemoryPlan &plan,
                                           const CompileOptions &options,
                                           ArrayRef<std::string> cpuFeatures) {
  ManifestBuilder builder(module, plan);
  builder.addMesh();
  builder.addAmounts();
  builder.addOptions(options, cpuFeatures);
  if (failed(builder.addTensors()) || failed(builder.addActions()) ||
      failed(builder.addCommunicators()))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(builder.take());
  return text;
}
