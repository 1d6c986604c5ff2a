//===- Program.cpp - From lowered segments to an executable ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Target/Program.h"
#include "Linker.h"
#include "Manifest.h"
#include "ProgramModule.h"
#include "dist/Conversion/Passes.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Target/ObjectCode.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dist;

/// What the manifest says now: entries, signatures of segments and the mesh,
/// none of which the conversion to LLVM knows.
static void erasePlanned(ModuleOp module) {
  for (Operation &op :
       llvm::make_early_inc_range(module.getBody()->getOperations())) {
    auto func = dyn_cast<func::FuncOp>(op);
    bool isOnTensors =
        func && !func->hasAttr(kKernelAttrName) &&
        llvm::any_of(llvm::concat<const Type>(func.getArgumentTypes(),
                                              func.getResultTypes()),
                     llvm::IsaPred<TensorType>);
    bool isEntry = func && (func.getName() == kStepEntryName ||
                            func.getName() == kEvalEntryName);
    if (isa<MeshOp>(op) || isOnTensors || isEntry)
      op.erase();
  }
}

LogicalResult dist::compileProgram(ModuleOp module, const MemoryPlan &plan,
                                   const CompileOptions &options) {
  ObjectOptions objectOptions{options.cpu, options.optLevel};
  auto cpuFeatures = lookupCpuFeatures(module.getLoc(), objectOptions);
  if (failed(cpuFeatures))
    return failure();
  FailureOr<std::string> manifest =
      buildManifest(module, plan, options, *cpuFeatures);
  if (failed(manifest))
    return failure();
  std::vector<std::string> segments = listSegments(plan);

  erasePlanned(module);
  PassManager passes(module.getContext());
  buildKernelsToLLVMPipeline(passes);
  if (failed(passes.run(module)) ||
      failed(addProgram(module, segments, *manifest)))
    return failure();
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream os(object);
  if (failed(emitObject(module, objectOptions, os)))
    return failure();
  return linkProgram(module.getLoc(), os.str(), options.output);
}
