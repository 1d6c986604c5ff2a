//===- Pipelines.cpp - The story from the model to the binary -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Pipelines/Pipelines.h"
#include "dist/Conversion/Passes.h"
#include "dist/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dist;

//===----------------------------------------------------------------------===//
// The story
//===----------------------------------------------------------------------===//

/// Folds and merges what is equal, function by function on all cores.
static void addSimplification(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void dist::buildToModelPipeline(OpPassManager &pm,
                                const PipelineOptions &options) {
  // First, so that no pass behind has to ask what a user may have written.
  VerifyModelOptions verify;
  verify.entry = options.entry;
  verify.precision = options.plan.precision;
  pm.addPass(createVerifyModel(verify));
}

void dist::buildToStepPipeline(OpPassManager &pm,
                               const PipelineOptions &options) {
  // Before the derivatives, whose constants are then those of f64.
  if (options.plan.precision == "f64") {
    WidenFloatsOptions widen;
    widen.entry = options.entry;
    pm.addPass(createWidenFloats(widen));
  }

  // Before the derivatives, which then belong to one way to lie each.
  SpecializeCallsOptions specialize;
  specialize.entry = options.entry;
  specialize.constraints = options.plan.getConstraintsText();
  pm.addPass(createSpecializeCalls(specialize));

  // On the model as written: derivatives are known per composite op, and a
  // shared layer function is differentiated once.
  DifferentiateOptions differentiate;
  differentiate.entry = options.entry;
  pm.addPass(createDifferentiate(differentiate));

  // Right behind the derivatives, which pad the cotangents of slices: a sum of
  // padded tensors would hide from propagation that the parts tile a dimension.
  pm.addPass(createJoinPads());

  // Needs the gradients as results by name, and makes the specification that
  // everything behind is compared with.
  const OptimizerPlan &optimizer = options.plan.optimizer;
  BuildStepOptions step;
  step.optimizer = optimizer.name;
  step.beta1 = optimizer.beta1;
  step.beta2 = optimizer.beta2;
  step.eps = optimizer.eps;
  step.weightDecay = optimizer.weightDecay;
  step.momentum = optimizer.momentum;
  step.clipNorm = optimizer.clipNorm.value_or(0);
  pm.addPass(createBuildStep(step));

  // Behind the step, which differentiates the functions with their dropout.
  BuildEvaluationOptions evaluation;
  evaluation.entry = options.entry;
  pm.addPass(createBuildEvaluation(evaluation));

  // Functions that neither the step nor the evaluation calls would be divided
  // and compiled for nothing.
  pm.addPass(createSymbolDCEPass());

  // The backward repeats expressions of the forward and multiplies by ones.
  addSimplification(pm);

  // Behind the merging, which leaves the work that is done; before anything is
  // decomposed, split or made local.
  pm.addPass(createRecordAmounts());
}

void dist::buildToShardedPipeline(OpPassManager &pm,
                                  const PipelineOptions &options) {
  // On the step, not on the model: a constraint holds for a parameter and its
  // optimizer states alike. Dimensions still are those that the user knows.
  ApplyPlanOptions apply;
  apply.mesh = options.plan.getMeshText();
  apply.constraints = options.plan.getConstraintsText();
  apply.origins = options.plan.getConstraintOrigins();
  pm.addPass(createApplyPlan(apply));

  // Behind the derivatives, which know the composite ops, and before the
  // shardings, which should not have to.
  pm.addNestedPass<func::FuncOp>(createDecompose());

  // The derivative of a composite op repeats ops of its decomposition; merged
  // now, they are sharded and reduced once.
  addSimplification(pm);

  // Before the shardings, so that one is a plain list of axes per dimension;
  // behind the merging, which would not see equal ops in two spellings.
  pm.addPass(createExposeFactors());

  // Everything that a type must say is known now.
  PropagateShardingsOptions propagate;
  propagate.zero = options.plan.zero.stage;
  pm.addPass(createPropagateShardings(propagate));

  pm.addPass(createVerifySharded());
}

void dist::buildToLocalPipeline(OpPassManager &pm, const PipelineOptions &) {
  // While what is owed is still in global types: which reduction is cheapest
  // is a question about whole functions.
  pm.addPass(createDelayPartials());

  // Every reshard that is left moves data: it becomes collectives.
  pm.addPass(createPartition());

  // Equal collectives and slices merge while collectives are still pure.
  addSimplification(pm);

  // Last, since it orders: neighbours travel together once all are known.
  pm.addNestedPass<func::FuncOp>(createCombineReductions());

  pm.addPass(createVerifyLocal());
}

void dist::buildToStagedPipeline(OpPassManager &pm, const PipelineOptions &) {
  // Behind the collectives, which cut a step where they stand between layers;
  // from here on the entries are lists of what runs, not programs.
  pm.addPass(createOutlineSegments());
}

void dist::buildToOverlappedPipeline(OpPassManager &, const PipelineOptions &) {
  // One pipeline rank and no reordering: every collective starts where it
  // stands.
}

void dist::buildToRuntimePipeline(OpPassManager &pm, const PipelineOptions &) {
  // Last: tensors become buffers, and nothing behind knows shardings.
  pm.addPass(createLowerSegments());
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

namespace {
struct PhaseEntry {
  Phase phase;
  StringRef name;
  void (*build)(OpPassManager &, const PipelineOptions &);
};
} // namespace

static constexpr PhaseEntry kPhases[] = {
    {Phase::Model, "model", buildToModelPipeline},
    {Phase::Step, "step", buildToStepPipeline},
    {Phase::Sharded, "sharded", buildToShardedPipeline},
    {Phase::Local, "local", buildToLocalPipeline},
    {Phase::Staged, "staged", buildToStagedPipeline},
    {Phase::Overlapped, "overlapped", buildToOverlappedPipeline},
    {Phase::Runtime, "runtime", buildToRuntimePipeline}};

static const PhaseEntry &getEntry(Phase phase) {
  return *llvm::find_if(
      kPhases, [&](const PhaseEntry &entry) { return entry.phase == phase; });
}

ArrayRef<Phase> dist::getPhases() {
  static constexpr Phase kOrder[] = {
      Phase::Model,  Phase::Step,       Phase::Sharded, Phase::Local,
      Phase::Staged, Phase::Overlapped, Phase::Runtime};
  return kOrder;
}

StringRef dist::getName(Phase phase) { return getEntry(phase).name; }

std::optional<Phase> dist::lookupPhase(StringRef name) {
  for (const PhaseEntry &entry : kPhases)
    if (entry.name == name)
      return entry.phase;
  return std::nullopt;
}

void dist::buildPhase(OpPassManager &pm, Phase phase,
                      const PipelineOptions &options) {
  getEntry(phase).build(pm, options);
}

//===----------------------------------------------------------------------===//
// dist-opt
//===----------------------------------------------------------------------===//

namespace {
/// The plan's keys and the entry as options of a pipeline.
struct PlanOptions : PassPipelineOptions<PlanOptions> {
  using Text = Option<std::string>;

  PlanOptions() {
    for (PlanKey key : getPlanKeys())
      keys.push_back(
          std::make_unique<Text>(*this, key.name, llvm::cl::desc(key.help)));
  }

  llvm::Expected<PipelineOptions> read() const {
    PipelineOptions options;
    options.entry = entry;
    for (auto [key, text] : llvm::zip_equal(getPlanKeys(), keys))
      if (!text->getValue().empty())
        if (llvm::Error error =
                readPlanFlag(key.name, text->getValue(), options.plan))
          return error;
    if (llvm::Error error = checkSupported(options.plan))
      return error;
    return options;
  }

  Text entry{*this, "entry",
             llvm::cl::desc("the function that returns the "
                            "loss"),
             llvm::cl::init("loss")};
  std::vector<std::unique_ptr<Text>> keys;
};
} // namespace

/// Everything up to `last`.
static LogicalResult
buildUpTo(Phase last, OpPassManager &pm, StringRef text,
          function_ref<LogicalResult(const Twine &)> emitError) {
  PlanOptions parsed;
  if (failed(parsed.parseFromString(text)))
    return failure();
  llvm::Expected<PipelineOptions> options = parsed.read();
  if (!options)
    return emitError(llvm::toString(options.takeError()));
  for (Phase phase : getPhases()) {
    buildPhase(pm, phase, *options);
    if (phase == last)
      break;
  }
  return success();
}

void dist::registerPhasePipelines() {
  for (Phase last : getPhases())
    registerPassPipeline(
        ("dist-to-" + getName(last)).str(),
        ("Everything from the model to the phase " + getName(last)).str(),
        [last](OpPassManager &pm, StringRef text,
               function_ref<LogicalResult(const Twine &)> emitError) {
          return buildUpTo(last, pm, text, emitError);
        },
        [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
          visit(PlanOptions());
        });
}
