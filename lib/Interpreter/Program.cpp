//===- Program.cpp - A function run by the names of its tensors -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Program.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Dialect/NN/IR/Written.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

static FailureOr<func::FuncOp> findEntry(ModuleOp module, StringRef entry) {
  if (!entry.empty()) {
    if (auto function = module.lookupSymbol<func::FuncOp>(entry))
      return function;
    return module.emitError("has no function '") << entry << "' to run";
  }
  auto phase = module->getAttrOfType<StringAttr>(kPhaseAttrName);
  if (phase && phase != "model")
    if (auto step = module.lookupSymbol<func::FuncOp>("step"))
      return step;
  if (auto loss = module.lookupSymbol<func::FuncOp>("loss"))
    return loss;
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    if (only)
      return module.emitError("has no function 'loss' and several others; "
                              "name the one to run");
    only = function;
  }
  if (!only)
    return module.emitError("has no function to run");
  return only;
}

FailureOr<Program> Program::create(ModuleOp module, StringRef entry,
                                   InterpreterOptions options,
                                   const NamedShapes &shapes) {
  FailureOr<func::FuncOp> function = findEntry(module, entry);
  if (failed(function))
    return failure();
  if (!function->getBody().hasOneBlock())
    return function->emitOpError("cannot be run: it needs a body of one block");
  Program program(*function, options);
  if (failed(program.addPorts(shapes)))
    return failure();
  return program;
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

namespace {
/// An attribute that says what a port is. Its text follows `prefix` in the
/// port's name.
struct RoleAttr {
  StringRef attr, prefix;
  Role role;
};
} // namespace

static constexpr RoleAttr kRoleAttrs[] = {
    {nn::kParamAttrName, "param:", Role::Param},
    {nn::kStateAttrName, "state:", Role::State},
    {nn::kGradAttrName, "grad:", Role::Grad},
    {nn::kInputAttrName, "", Role::Input},
    {nn::kMetricAttrName, "", Role::Other},
    {nn::kKeyAttrName, "key", Role::Key},
    {nn::kLrAttrName, "lr", Role::Rate},
    {nn::kStepAttrName, "step", Role::Step},
    {nn::kLossAttrName, "loss", Role::Other},
    {nn::kNormAttrName, "grad_norm", Role::Other}};

/// The port that `attrs` describe; named `fallback` if they do not.
static Port describePort(DictionaryAttr attrs, std::string fallback) {
  Port port;
  port.name = std::move(fallback);
  if (!attrs)
    return port;
  for (const RoleAttr &known : kRoleAttrs)
    if (Attribute attr = attrs.get(known.attr)) {
      auto text = dyn_cast<StringAttr>(attr);
      port.name = (known.prefix + (text ? text.getValue() : "")).str();
      port.role = known.role;
    }
  port.init = attrs.getAs<StringAttr>(nn::kInitAttrName);
  return port;
}

LogicalResult Program::addPort(Port port, Type type, DictionaryAttr attrs,
                               const NamedShapes &shapes,
                               SmallVectorImpl<Port> &ports) {
  auto emitError = [&] { return function.emitError("'") << port.name << "' "; };
  port.type = dyn_cast<RankedTensorType>(type);
  if (!port.type || !port.type.hasStaticShape() ||
      !getElementKind(port.type.getElementType()))
    return emitError() << "is " << type
                       << ", but only tensors of static shape can be run";
  auto written =
      attrs ? attrs.getAs<TypeAttr>(nn::kWrittenAttrName) : TypeAttr();
  port.written = written ? written.getValue() : port.type.getElementType();
  for (const Port &other : ports)
    if (other.name == port.name)
      return emitError() << "is the name of two "
                         << (&ports == &arguments ? "arguments" : "results");
  BlockLayout::Spec spec{port.type, nullptr, nullptr, nullptr, std::nullopt};
  if (attrs) {
    spec.sharding = attrs.getAs<ShardingAttr>(kShardingAttrName);
    spec.logical = attrs.getAs<StringAttr>(kLogicalAttrName);
  }
  if (interpreter.getNumRanks() > 1)
    spec.mesh = interpreter.getMesh();
  if (auto it = shapes.find(port.name); it != shapes.end())
    spec.shape = it->second;
  FailureOr<BlockLayout> layout = BlockLayout::get(emitError, spec);
  if (failed(layout))
    return failure();
  port.layout = std::move(*layout);
  ports.push_back(std::move(port));
  return success();
}

/// The first result without a name is the loss if it can be one.
static bool isLoss(unsigned number, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return number == 0 && tensor && tensor.getRank() == 0 &&
         isa<FloatType>(tensor.getElementType());
}

LogicalResult Program::addPorts(const NamedShapes &shapes) {
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    DictionaryAttr attrs = function.getArgAttrDict(number);
    if (failed(addPort(describePort(attrs, "arg" + std::to_string(number)),
                       type, attrs, shapes, arguments)))
      return failure();
  }
  // A gradient or a new parameter has the shape of the old one.
  NamedShapes known = shapes;
  for (const Port &port : arguments) {
    known.try_emplace(port.name, port.getShape());
    if (port.role == Role::Param)
      known.try_emplace("grad:" + StringRef(port.name).substr(6).str(),
                        port.getShape());
  }
  for (auto [number, type] : llvm::enumerate(function.getResultTypes())) {
    DictionaryAttr attrs = function.getResultAttrDict(number);
    std::string fallback =
        isLoss(number, type) ? "loss" : "result" + std::to_string(number);
    if (failed(addPort(describePort(attrs, fallback), type, attrs, known,
                       results)))
      return failure();
  }
  return success();
}

NamedShapes Program::getShapes() const {
  NamedShapes shapes;
  for (const Port &port : arguments)
    shapes.try_emplace(port.name, port.getShape());
  for (const Port &port : results)
    shapes.try_emplace(port.name, port.getShape());
  return shapes;
}

ElementKind Program::getKind(const Port &port) {
  ElementKind kind = *getElementKind(port.type.getElementType());
  return getOptions().f64 && isFloat(kind) ? ElementKind::F64 : kind;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

FailureOr<NamedTensors> Program::run(const NamedTensors &inputs, int64_t step) {
  interpreter.getOptions().step = step;
  SmallVector<RankTensors, 1> values;
  for (const Port &port : arguments) {
    auto it = inputs.find(port.name);
    assert(it != inputs.end() && it->second.getKind() == getKind(port) &&
           it->second.getShape() == port.getShape() && "inputs are filled");
    values.push_back(port.layout.cut(it->second));
  }
  RankResults found = interpreter.run(function, std::move(values));
  if (failed(found))
    return failure();
  NamedTensors outputs;
  for (auto [port, blocks] : llvm::zip_equal(results, *found)) {
    auto emitError = [&, name = StringRef(port.name)] {
      return function.emitError("result '") << name << "' ";
    };
    FailureOr<Tensor> whole = port.layout.assemble(emitError, blocks);
    if (failed(whole))
      return failure();
    outputs[port.name] = std::move(*whole);
  }
  return outputs;
}
