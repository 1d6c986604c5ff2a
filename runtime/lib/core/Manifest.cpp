//===- Manifest.cpp - What a compiled program tells the runtime -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Manifest.h"

#include "core/Json.h"
#include "core/ManifestActions.h"

#include <array>
#include <set>

using namespace dist;
using io::Expected;

static constexpr int64_t kMaxElements = int64_t(1) << 48;

static constexpr std::array<std::pair<std::string_view, Role>, 10> kRoles = {{
    {"param", Role::Param},
    {"state", Role::State},
    {"input", Role::Input},
    {"loss", Role::Loss},
    {"eval_loss", Role::EvalLoss},
    {"norm", Role::Norm},
    {"metric", Role::Metric},
    {"key", Role::Key},
    {"lr", Role::LearningRate},
    {"step", Role::Step},
}};

int64_t TensorInfo::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t TensorInfo::getLocalBytes() const {
  return layout.getNumLocalElements() * sizeOf(dtype);
}

const TensorInfo *Manifest::lookup(Role role) const {
  for (const TensorInfo &tensor : tensors)
    if (tensor.role == role)
      return &tensor;
  return nullptr;
}

static Role readRole(const JsonValue &json) {
  std::string text = json.asString();
  for (auto [name, role] : kRoles)
    if (name == text)
      return role;
  json.fail("is '" + text + "', which is no role");
  return Role::Param;
}

dist_dtype dist::readDType(const JsonValue &json) {
  std::string text = json.asString();
  if (std::optional<dist_dtype> dtype = dtypeOf(text))
    return *dtype;
  json.fail("is '" + text + "', expected f64, f32, bf16, f16, i64, i32 or i1");
  return DIST_F32;
}

/// The product of `sizes`; fails, and is -1, where it is too large to address.
static int64_t checkedProduct(const JsonValue &json,
                              const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size != 0 && product > kMaxElements / size) {
      json.fail("has more than 2^48 elements");
      return -1;
    }
    product *= size;
  }
  return product;
}

static TensorLayout readLayout(const JsonValue &json, const Mesh &mesh) {
  TensorLayout layout;
  layout.dims = json["dims"].asInts(0);
  std::vector<std::string> all;
  for (const JsonValue &item : json["axes"].items()) {
    std::vector<std::string> texts = item.asStrings();
    all.insert(all.end(), texts.begin(), texts.end());
    Expected<std::vector<AxisPart>> parts = mesh.parseAxes(texts);
    if (!parts)
      item.fail(": " + parts.takeError().message());
    else
      layout.axes.push_back(std::move(*parts));
  }
  // An axis must not split two dimensions.
  if (Expected<std::vector<AxisPart>> parts = mesh.parseAxes(all); !parts)
    json["axes"].fail(": " + parts.takeError().message());
  if (layout.axes.size() != layout.dims.size()) {
    json["axes"].fail("has " + std::to_string(layout.axes.size()) +
                      " lists for " + std::to_string(layout.dims.size()) +
                      " dims");
    layout.axes.resize(layout.dims.size());
  }
  return layout;
}

void dist::readTensorCommon(const JsonValue &json, const Manifest &manifest,
                            TensorInfo &tensor) {
  tensor.name = json["name"].asString();
  tensor.dtype = readDType(json["dtype"]);
  tensor.shape = json["shape"].asInts(0);
  tensor.layout = readLayout(json, manifest.mesh);
  int64_t elements = checkedProduct(json["shape"], tensor.shape);
  int64_t inDims = checkedProduct(json["dims"], tensor.layout.dims);
  // The ceilings may add up to more than the whole.
  int64_t local = checkedProduct(json["dims"], tensor.layout.getLocalDims());
  if (elements < 0 || inDims < 0 || local < 0) {
    // What is read on after a failure counts elements as well.
    tensor.shape.clear();
    tensor.layout = TensorLayout();
  } else if (inDims != elements) {
    json["dims"].fail("do not multiply to the shape's " +
                      std::to_string(elements) + " elements");
  }
}

void dist::checkRange(const JsonValue &json, const Manifest &manifest,
                      int64_t offset, int64_t count, dist_dtype dtype) {
  int64_t bytes, end;
  if (__builtin_mul_overflow(count, int64_t(sizeOf(dtype)), &bytes) ||
      __builtin_add_overflow(offset, bytes, &end))
    json.fail("takes more bytes than can be counted");
  if (offset % sizeOf(dtype) != 0)
    json.fail("is at byte " + std::to_string(offset) +
              ", which is not aligned to its " + std::string(nameOf(dtype)));
  if (offset < 0 || bytes < 0 || end > manifest.arenaBytes)
    json.fail("takes bytes " + std::to_string(offset) + " to " +
              std::to_string(end) + " of an arena of " +
              std::to_string(manifest.arenaBytes));
}

/// What the runtime itself reads and writes has a form of its own.
static void checkForm(const JsonValue &json, const TensorInfo &tensor) {
  auto expect = [&](bool dtypeFits, int64_t count, const char *form) {
    if (!dtypeFits || tensor.getNumElements() != count ||
        tensor.layout.getNumLocalElements() != count)
      json.fail("('" + tensor.name + "') is not " + form);
  };
  bool real = isFloat(tensor.dtype);
  switch (tensor.role) {
  case Role::Key:
    return expect(tensor.dtype == DIST_I32, 2, "two i32 on every rank");
  case Role::LearningRate:
    return expect(real && sizeOf(tensor.dtype) >= 4, 1,
                  "one f32 or f64 on every rank");
  case Role::Step:
    return expect(!real && tensor.dtype != DIST_I1, 1,
                  "one i32 or i64 on every rank");
  case Role::Loss:
  case Role::EvalLoss:
  case Role::Norm:
    return expect(real, 1, "one float on every rank");
  case Role::Metric:
    return expect(true, 1, "one element on every rank");
  case Role::Param:
    if (!real || !isFloat(tensor.written))
      json.fail("('" + tensor.name + "') is a parameter that is no float");
    return;
  case Role::State:
  case Role::Input:
    return;
  }
}

static TensorInfo readTensor(const JsonValue &json, const Manifest &manifest) {
  TensorInfo tensor;
  readTensorCommon(json, manifest, tensor);
  tensor.role = readRole(json["role"]);
  tensor.offset = json["offset"].asInt(0);
  if (json.has("init"))
    tensor.init = json["init"].asString();
  tensor.written =
      json.has("init_dtype") ? readDType(json["init_dtype"]) : tensor.dtype;
  tensor.noDecay = json.has("no_decay") && json["no_decay"].asBool();
  tensor.frozen = json.has("frozen") && json["frozen"].asBool();
  checkRange(json, manifest, tensor.offset, tensor.layout.getNumLocalElements(),
             tensor.dtype);
  checkForm(json, tensor);
  return tensor;
}

static Mesh readMesh(const JsonValue &json) {
  std::vector<MeshAxis> axes;
  for (const JsonValue &item : json.items()) {
    std::vector<JsonValue> pair = item.items();
    if (pair.size() != 2) {
      item.fail("is no pair of name and size");
      return {};
    }
    axes.push_back({pair[0].asString(), pair[1].asInt(1)});
  }
  Expected<Mesh> mesh = Mesh::create(std::move(axes));
  if (mesh)
    return std::move(*mesh);
  json.fail(": " + mesh.takeError().message());
  return {};
}

static Communicator readCommunicator(const JsonValue &json, const Mesh &mesh) {
  Communicator communicator;
  std::vector<std::string> texts = json["axes"].asStrings();
  Expected<std::vector<AxisPart>> parts = mesh.parseAxes(texts);
  if (!parts) {
    json["axes"].fail(": " + parts.takeError().message());
    return communicator;
  }
  communicator.parts = std::move(*parts);
  for (const AxisPart &part : communicator.parts)
    communicator.size *= part.size;
  for (const std::string &text : texts)
    communicator.axes += (communicator.axes.empty() ? "" : ", ") + text;
  return communicator;
}

static void readSizes(const JsonValue &json, Manifest &manifest) {
  auto optionalInt = [&](const char *key) {
    return json.has(key) ? json[key].asInt(0, kMaxElements) : 0;
  };
  manifest.threads = optionalInt("threads");
  manifest.batch = optionalInt("batch");
  manifest.seq = optionalInt("seq");
  manifest.vocab = optionalInt("vocab");
  manifest.arenaBytes = json["arena_bytes"].asInt(0, kMaxElements);
  if (json.has("name"))
    manifest.name = json["name"].asString();
  if (json.has("flops_per_step"))
    manifest.flopsPerStep = json["flops_per_step"].asDouble();
  if (json.has("cpu_features"))
    manifest.cpuFeatures = json["cpu_features"].asStrings();
  if (json.has("optimizer") && json["optimizer"].has("lr"))
    manifest.lr = json["optimizer"]["lr"].asDouble();
}

static void readParts(const JsonValue &json, int64_t numSegments,
                      Manifest &manifest) {
  manifest.mesh = readMesh(json["mesh"]);
  readSizes(json, manifest);
  for (const JsonValue &item : json["communicators"].items())
    manifest.communicators.push_back(readCommunicator(item, manifest.mesh));
  std::set<std::string> names;
  for (const JsonValue &item : json["tensors"].items()) {
    TensorInfo tensor = readTensor(item, manifest);
    if (!names.insert(tensor.name).second)
      item["name"].fail("is '" + tensor.name + "', which is there twice");
    manifest.tensors.push_back(std::move(tensor));
  }
  for (auto [key, actions] :
       {std::pair{"prologue", &manifest.prologue},
        std::pair{"step", &manifest.step}, std::pair{"eval", &manifest.eval}})
    if (json.has(key))
      *actions = readActions(json[key], numSegments, manifest);
}

Expected<Manifest> Manifest::parse(std::string_view text, int64_t numSegments) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded())
    return io::makeError("the program's manifest is not JSON");
  Manifest manifest;
  io::Error error = io::Error::success();
  readParts(JsonValue(json, "manifest", error), numSegments, manifest);
  if (error)
    return error;
  return manifest;
}
