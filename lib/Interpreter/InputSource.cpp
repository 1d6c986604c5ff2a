//===- InputSource.cpp - Where arguments come from ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/InputSource.h"
#include "io/Init.h"
#include "io/Philox.h"

using namespace mlir;
using namespace dist;
using namespace dist::interp;

/// What integers that nothing bounds are below.
static constexpr int64_t kDefaultBound = 8;

/// The checkpoint name of a parameter or state.
static StringRef stripRole(StringRef name) {
  name.consume_front("param:") || name.consume_front("state:");
  return name;
}

NamedShapes InputSource::getShapes() const {
  NamedShapes shapes;
  if (!file)
    return shapes;
  for (const auto &[name, tensor] : *file) {
    shapes.try_emplace(name, tensor.getShape());
    if (StringRef(name).contains(':'))
      shapes.try_emplace("state:" + name, tensor.getShape());
    else
      shapes.try_emplace("param:" + name, tensor.getShape());
  }
  return shapes;
}

//===----------------------------------------------------------------------===//
// One argument
//===----------------------------------------------------------------------===//

FailureOr<Tensor> InputSource::convert(Program &program, const Port &port,
                                       const Tensor &tensor) const {
  auto emitError = [&] {
    return program.getFunction().emitError("the tensor for '")
           << port.name << "' ";
  };
  ElementKind kind = program.getKind(port);
  if (tensor.getShape() != port.getShape())
    return emitError() << "is of shape " << formatShape(tensor.getShape())
                       << "; expected " << formatShape(port.getShape());
  if (tensor.getKind() == kind)
    return tensor;
  if (tensor.isFloat() != isFloat(kind))
    return emitError() << "holds " << getName(tensor.getKind()) << "; expected "
                       << getName(kind);
  if (tensor.isFloat())
    return Tensor::fromFloats(kind, tensor.getShape(), tensor.floats());
  for (auto [position, value] : llvm::enumerate(tensor.ints()))
    if (wrapTo(kind, value) != value)
      return emitError() << "holds " << value << " at position " << position
                         << ", which does not fit in " << getName(kind);
  return Tensor::fromInts(kind, tensor.getShape(), tensor.ints());
}

FailureOr<Tensor> InputSource::initialize(Program &program, const Port &port,
                                          StringRef text) const {
  io::Expected<io::Init> init = io::Init::parse({text.data(), text.size()});
  if (!init)
    return program.getFunction().emitError("parameter '")
           << stripRole(port.name)
           << "' has a bad 'nn.init': " << init.takeError().message();
  ElementKind written = *getElementKind(port.written);
  std::string name = stripRole(port.name).str();
  std::vector<double> values(getNumElements(port.getShape()));
  for (auto [i, value] : llvm::enumerate(values))
    value = roundTo(written, init->getValue(name, options.seed, i));
  return Tensor::fromFloats(program.getKind(port), port.getShape(),
                            std::move(values));
}

FailureOr<Tensor> InputSource::initialize(Program &program,
                                          const Port &port) const {
  if (port.init)
    return initialize(program, port, port.init.getValue());
  if (options.drawAll)
    return initialize(program, port, "normal 0.02");
  return program.getFunction().emitError("parameter '")
         << stripRole(port.name)
         << "' has neither a value in the inputs nor an 'nn.init'";
}

Tensor InputSource::draw(Program &program, const Port &port,
                         BlockArgument argument) const {
  ElementKind kind = program.getKind(port);
  std::string name = "input:" + port.name;
  int64_t count = getNumElements(port.getShape());
  if (isFloat(kind)) {
    ElementKind written = *getElementKind(port.written);
    io::Expected<io::Init> normal = io::Init::parse("normal 1");
    std::vector<double> values(count);
    for (auto [i, value] : llvm::enumerate(values))
      value = roundTo(written, normal->getValue(name, options.seed, i));
    return Tensor::fromFloats(kind, port.getShape(), std::move(values));
  }
  uint64_t bound = kind == ElementKind::I1
                       ? 2
                       : inferIdBound(argument).value_or(kDefaultBound);
  io::PhiloxKey key = io::parameterKey(name, options.seed);
  std::vector<int64_t> values(count);
  for (auto [i, value] : llvm::enumerate(values))
    value = io::philoxAt(key, i, 0, 3)[0] % bound;
  return Tensor::fromInts(kind, port.getShape(), std::move(values));
}

FailureOr<Tensor> InputSource::get(Program &program, unsigned number) const {
  const Port &port = program.getArguments()[number];
  if (file) {
    auto it = file->find(port.name);
    if (it == file->end())
      it = file->find(stripRole(port.name).str());
    if (it != file->end())
      return convert(program, port, it->second);
  }
  switch (port.role) {
  case Role::Param:
    return initialize(program, port);
  case Role::State:
    if (options.drawAll)
      return initialize(program, port, "uniform 0.5 1");
    return Tensor::zeros(program.getKind(port), port.getShape());
  default:
    return draw(program, port, program.getFunction().getArgument(number));
  }
}

//===----------------------------------------------------------------------===//
// All arguments, all steps
//===----------------------------------------------------------------------===//

LogicalResult InputSource::fill(Program &program, NamedTensors &inputs) const {
  for (auto [number, port] : llvm::enumerate(program.getArguments())) {
    auto it = inputs.find(port.name);
    FailureOr<Tensor> tensor = it == inputs.end()
                                   ? get(program, number)
                                   : convert(program, port, it->second);
    if (failed(tensor))
      return failure();
    inputs[port.name] = std::move(*tensor);
  }
  return success();
}

/// A tensor that holds `number` everywhere.
static Tensor makeNumber(ElementKind kind, ArrayRef<int64_t> shape,
                         double number) {
  int64_t count = getNumElements(shape);
  if (isFloat(kind))
    return Tensor::fromFloats(kind, shape, std::vector<double>(count, number));
  return Tensor::fromInts(kind, shape,
                          std::vector<int64_t>(count, int64_t(number)));
}

void InputSource::setStep(Program &program, int64_t step,
                          NamedTensors &inputs) const {
  for (const Port &port : program.getArguments()) {
    if (file && file->contains(port.name))
      continue;
    ElementKind kind = program.getKind(port);
    if (port.role == Role::Key) {
      io::PhiloxKey key = io::stepKey(options.seed, step);
      inputs[port.name] =
          Tensor::fromInts(kind, port.getShape(), {key.low, key.high});
    } else if (port.role == Role::Rate) {
      inputs[port.name] =
          makeNumber(kind, port.getShape(), options.learningRate);
    } else if (port.role == Role::Step) {
      inputs[port.name] = makeNumber(kind, port.getShape(), step);
    }
  }
}

FailureOr<NamedTensors> InputSource::run(Program &program,
                                         NamedTensors inputs) const {
  FailureOr<NamedTensors> outputs = NamedTensors();
  for (int64_t i = 0; i < options.numSteps; ++i) {
    int64_t step = options.firstStep + i;
    setStep(program, step, inputs);
    outputs = program.run(inputs, step);
    if (failed(outputs))
      return failure();
    for (const Port &port : program.getArguments())
      if (auto it = outputs->find(port.name); it != outputs->end())
        inputs[port.name] = it->second;
  }
  return outputs;
}
