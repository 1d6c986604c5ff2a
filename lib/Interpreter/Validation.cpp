//===- Validation.cpp - Two programs on the same inputs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Validation.h"
#include "dist/Interpreter/Comparison.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

FailureOr<ResultPair> dist::interp::runBoth(ModuleOp module, StringRef entry,
                                            ModuleOp reference,
                                            InterpreterOptions options,
                                            const InputSource &source) {
  NamedShapes shapes = source.getShapes();
  NamedTensors inputs;
  FailureOr<Program> whole = Program::create(reference, "", options, shapes);
  if (failed(whole) || failed(source.fill(*whole, inputs)))
    return failure();
  // Local types do not always say how large a divided dimension is.
  for (const auto &known : whole->getShapes())
    shapes.try_emplace(known.getKey(), known.getValue());
  FailureOr<Program> program = Program::create(module, entry, options, shapes);
  if (failed(program) || failed(source.fill(*program, inputs)))
    return failure();
  FailureOr<NamedTensors> results = source.run(*program, inputs);
  if (failed(results))
    return failure();
  FailureOr<NamedTensors> expected = source.run(*whole, inputs);
  if (failed(expected))
    return failure();
  return ResultPair{std::move(*results), std::move(*expected)};
}

/// Equal NaNs are no difference, so they prove little.
static void warnIfNotFinite(ModuleOp step, const NamedTensors &expected) {
  auto loss = expected.find("loss");
  if (loss != expected.end() && loss->second.isFloat() &&
      !llvm::all_of(loss->second.floats(),
                    [](double value) { return std::isfinite(value); }))
    step.emitWarning("the loss is not finite on random inputs, so the phases "
                     "were compared on little");
}

LogicalResult dist::interp::verifyAgainstStep(ModuleOp module, ModuleOp step,
                                              double learningRate) {
  InputSource source({.learningRate = learningRate, .drawAll = true});
  FailureOr<ResultPair> pair = runBoth(module, "", step, {.f64 = true}, source);
  if (failed(pair))
    return failure();
  warnIfNotFinite(step, pair->expected);
  std::vector<Difference> over =
      compare(pair->results, pair->expected, learningRate, /*numSteps=*/1);
  llvm::erase_if(over, [](const Difference &difference) {
    return difference.error <= kPhaseTolerance;
  });
  if (over.empty())
    return success();
  llvm::sort(over, [](const Difference &a, const Difference &b) {
    return std::pair(b.error, StringRef(a.name)) <
           std::pair(a.error, StringRef(b.name));
  });
  auto phase = module->getAttrOfType<StringAttr>(kPhaseAttrName);
  InFlightDiagnostic diagnostic =
      module.emitError("result '")
      << over.front().name << "' of the phase "
      << (phase ? phase.getValue() : "given") << " differs from the step by "
      << llvm::formatv("{0:e1}", over.front().error).str()
      << ", expected at most "
      << llvm::formatv("{0:e1}", kPhaseTolerance).str();
  for (const Difference &other : ArrayRef(over).drop_front())
    diagnostic.attachNote() << "so does '" << other.name << "', by "
                            << llvm::formatv("{0:e1}", other.error).str();
  return diagnostic;
}
