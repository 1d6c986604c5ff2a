//===- Program.cpp - From lowered segments to an executable ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Target/Program.h"
#include "Linker.h"
#include "Manifest.h"
#include "ProgramModule.h"
#include "SplitProgram.h"
#include "dist/Conversion/Passes.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Target/ObjectCode.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
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

/// Machine code of `parts`, all at once.
static FailureOr<SmallVector<SmallVector<char, 0>>>
emitObjects(ArrayRef<ModuleOp> parts, const ObjectOptions &options) {
  MLIRContext *context = parts.front()->getContext();
  registerObjectTranslations(*context);
  SmallVector<SmallVector<char, 0>> objects(parts.size());
  if (failed(failableParallelForEachN(context, 0, parts.size(), [&](size_t i) {
        llvm::raw_svector_ostream os(objects[i]);
        return emitObject(parts[i], options, os);
      })))
    return failure();
  return objects;
}

/// Emits and links `parts`.
static LogicalResult writeExecutable(Location loc, ArrayRef<ModuleOp> parts,
                                     const ObjectOptions &options,
                                     StringRef output, TimingScope &timing) {
  TimingScope emitting = timing.nest("Machine code");
  auto objects = emitObjects(parts, options);
  emitting.stop();
  if (failed(objects))
    return failure();
  auto texts = llvm::map_to_vector(*objects, [](ArrayRef<char> object) {
    return StringRef(object.data(), object.size());
  });
  TimingScope linking = timing.nest("Linking");
  return linkProgram(loc, texts, output);
}

/// From functions on tensors to the LLVM dialect, all parts at once.
static LogicalResult lowerParts(ModuleOp module, TimingScope &timing) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // translation looks at what comes out
  TimingScope lowering = timing.nest("Lowering");
  passes.enableTiming(lowering);
  buildKernelsToLLVMPipeline(passes.nest<ModuleOp>());
  return passes.run(module);
}

LogicalResult dist::compileProgram(ModuleOp module, const MemoryPlan &plan,
                                   const CompileOptions &options) {
  TimingScope none;
  TimingScope &timing = options.timing ? *options.timing : none;
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
  SmallVector<ModuleOp> parts = splitProgram(module);
  if (failed(lowerParts(module, timing)))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto program = ModuleOp::create(b, module.getLoc());
  if (failed(addProgram(program, parts, segments, *manifest)))
    return failure();
  parts.push_back(program);
  return writeExecutable(module.getLoc(), parts, objectOptions, options.output,
                         timing);
}
