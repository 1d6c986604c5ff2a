//===- Pipelines.h - The story from the model to the binary -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_PIPELINES_PIPELINES_H
#define DIST_PIPELINES_PIPELINES_H

#include "dist/Plan/Plan.h"
#include "mlir/Pass/PassManager.h"

namespace dist {

/// A state of the program between two verifiers (docs/phases.md).
enum class Phase { Model, Step, Sharded, Local, Staged, Overlapped, Runtime };

/// Every phase, in order.
llvm::ArrayRef<Phase> getPhases();
/// `model`, `step`, …
llvm::StringRef getName(Phase phase);
std::optional<Phase> lookupPhase(llvm::StringRef name);

/// What the passes between phases need to know.
struct PipelineOptions {
  Plan plan;
  std::string entry = "loss"; ///< the function that returns the loss
};

/// The passes that lead from the phase before to `phase`, its verifier last.
void buildPhase(mlir::OpPassManager &pm, Phase phase,
                const PipelineOptions &options);

/// From what the user wrote to *model*, and from each phase to the next.
void buildToModelPipeline(mlir::OpPassManager &pm,
                          const PipelineOptions &options);
void buildToStepPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options);
void buildToShardedPipeline(mlir::OpPassManager &pm,
                            const PipelineOptions &options);
void buildToLocalPipeline(mlir::OpPassManager &pm,
                          const PipelineOptions &options);
void buildToStagedPipeline(mlir::OpPassManager &pm,
                           const PipelineOptions &options);
void buildToOverlappedPipeline(mlir::OpPassManager &pm,
                               const PipelineOptions &options);
void buildToRuntimePipeline(mlir::OpPassManager &pm,
                            const PipelineOptions &options);

/// Registers `--dist-to-PHASE`, which run everything from the model on. Their
/// options are the keys of the plan, in the form of flags, and `entry`.
void registerPhasePipelines();

} // namespace dist

#endif // DIST_PIPELINES_PIPELINES_H
