//===- ApplyPlan.cpp - The plan's mesh and constraints in the module ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/NaturalShardings.h"
#include "dist/Analysis/ProgramForm.h"
#include "dist/Plan/Plan.h"
#include "dist/Transforms/Passes.h"
#include "dist/Transforms/SignatureAttrs.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"

namespace dist {
#define GEN_PASS_DEF_APPLYPLAN
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

/// `dp=2,tp=4`
static std::string getText(MeshOp mesh) {
  std::string text;
  for (auto [axis, size] : llvm::zip_equal(
           mesh.getAxes().getAsRange<StringAttr>(), mesh.getShape()))
    text += (text.empty() ? "" : ",") + axis.getValue().str() + "=" +
            std::to_string(size);
  return text;
}

/// Writes the plan's mesh into a module without one; with one they must agree.
static LogicalResult applyMesh(ModuleOp module, const Plan &plan) {
  if (plan.mesh.empty())
    return success();
  if (MeshOp mesh = lookupMesh(module)) {
    if (getText(mesh) == plan.getMeshText())
      return success();
    InFlightDiagnostic diag = mesh.emitOpError("is ")
                              << getText(mesh) << ", but the plan's mesh is "
                              << plan.getMeshText();
    diag.attachNote() << "leave one of the two out";
    return diag;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<StringRef> names;
  SmallVector<int64_t> sizes;
  for (const PlanAxis &axis : plan.mesh) {
    names.push_back(axis.name);
    sizes.push_back(axis.size);
  }
  MeshOp::create(builder, module.getLoc(), "mesh",
                 builder.getStrArrayAttr(names),
                 builder.getDenseI64ArrayAttr(sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// The place that `where`, `plan.yaml:3:7: `, names; `otherwise` if none.
static Location getLocation(StringRef where, Location otherwise) {
  auto [rest, columnText] = where.rtrim(": ").rsplit(':');
  auto [file, lineText] = rest.rsplit(':');
  unsigned line, column;
  if (lineText.getAsInteger(10, line) || columnText.getAsInteger(10, column))
    return otherwise;
  return FileLineColLoc::get(otherwise.getContext(), file, line, column);
}

/// The sharding that `wish` spells for `argument`.
static FailureOr<ShardingAttr>
parseSharding(BlockArgument argument, MeshOp mesh, const ConstraintPlan &wish) {
  auto type = cast<RankedTensorType>(argument.getType());
  Location loc = getLocation(wish.where, argument.getLoc());
  std::string message;
  Attribute parsed;
  {
    ScopedDiagnosticHandler handler(mesh.getContext(), [&](Diagnostic &diag) {
      message = diag.str();
      return success();
    });
    parsed = parseAttribute(
        ("#dist.sharding<@" + mesh.getSymName() + ", " + wish.sharding + ">")
            .str(),
        mesh.getContext());
  }
  auto emitError = [&] {
    InFlightDiagnostic diag = mlir::emitError(loc)
                              << "constraint '" << wish.param << "': sharding "
                              << wish.sharding << ": ";
    diag.attachNote(argument.getLoc()) << "the parameter is here";
    return diag;
  };
  auto sharding = dyn_cast_if_present<ShardingAttr>(parsed);
  if (!sharding) {
    InFlightDiagnostic diag = emitError() << message;
    diag.attachNote() << "a sharding lists the axes of each dimension, as in "
                         "[[], [\"tp\"]]";
    return diag;
  }
  if (sharding.isPartial())
    return emitError() << "a parameter cannot be partial";
  if (failed(verifySharding(emitError, mesh, sharding, type)))
    return failure();
  return sharding;
}

namespace {
/// Writes the plan's constraints on the arguments of the entry.
class ConstraintWriter {
public:
  ConstraintWriter(func::FuncOp entry, MeshOp mesh)
      : entry(entry), mesh(mesh), attrs(entry) {}

  LogicalResult write(const ConstraintPlan &wish);
  /// Once all are written.
  void finish() { attrs.write(); }

private:
  LogicalResult write(const ConstraintPlan &wish, unsigned arg,
                      StringRef param);
  StringRef getParameter(unsigned arg);

  func::FuncOp entry;
  MeshOp mesh;
  SignatureAttrs attrs;
};
} // namespace

/// The parameter that argument `arg` is, or is a state of; else empty.
StringRef ConstraintWriter::getParameter(unsigned arg) {
  if (auto name = entry.getArgAttrOfType<StringAttr>(arg, nn::kParamAttrName))
    return name;
  if (auto state = entry.getArgAttrOfType<StringAttr>(arg, nn::kStateAttrName))
    return state.getValue().split(':').second;
  return {};
}

LogicalResult ConstraintWriter::write(const ConstraintPlan &wish, unsigned arg,
                                      StringRef param) {
  BlockArgument argument = entry.getArgument(arg);
  FailureOr<ShardingAttr> sharding = parseSharding(argument, mesh, wish);
  if (failed(sharding))
    return failure();
  auto earlier = attrs.getArg<ShardingAttr>(arg, kShardingAttrName);
  if (earlier && earlier != *sharding) {
    InFlightDiagnostic diag =
        emitError(getLocation(wish.where, argument.getLoc()))
        << "parameter '" << param << "' is asked to be " << earlier
        << " and, by constraint '" << wish.param << "', " << *sharding;
    diag.attachNote(argument.getLoc()) << "the parameter is here";
    return diag;
  }
  attrs.setArg(arg, kShardingAttrName, *sharding);
  return success();
}

LogicalResult ConstraintWriter::write(const ConstraintPlan &wish) {
  SmallVector<StringRef> params;
  bool isMatched = false;
  for (unsigned arg = 0; arg < entry.getNumArguments(); ++arg) {
    StringRef param = getParameter(arg);
    if (param.empty())
      continue;
    if (entry.getArgAttr(arg, nn::kParamAttrName))
      params.push_back(param);
    if (!matchesGlob(wish.param, param))
      continue;
    isMatched = true;
    if (failed(write(wish, arg, param)))
      return failure();
  }
  if (isMatched)
    return success();
  InFlightDiagnostic diag = emitError(getLocation(wish.where, entry.getLoc()))
                            << "constraint '" << wish.param
                            << "' matches no parameter";
  constexpr size_t kMost = 20;
  diag.attachNote() << "parameters are "
                    << llvm::join(ArrayRef(params).take_front(kMost), ", ")
                    << (params.size() > kMost ? ", ..." : "");
  return diag;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ApplyPlan : dist::impl::ApplyPlanBase<ApplyPlan> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    for (auto [key, text] : {std::pair(StringRef("mesh"), &mesh),
                             std::pair(StringRef("constraints"), &constraints)})
      if (!text->empty())
        if (llvm::Error error = readPlanFlag(key, *text, plan))
          return emitError(UnknownLoc::get(context))
                 << llvm::toString(std::move(error));
    for (auto [wish, origin] : llvm::zip(plan.constraints, origins))
      wish.where = origin;
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)) || failed(applyMesh(module, plan)))
      return signalPassFailure();
    if (plan.constraints.empty())
      return;
    func::FuncOp entry = lookupEntry(module);
    MeshOp meshOp = lookupMesh(module);
    if (!entry || !meshOp) {
      emitError(getLocation(plan.constraints.front().where, module.getLoc()),
                "the plan has constraints, but the module has no ")
          << (entry ? "mesh" : "entry function");
      return signalPassFailure();
    }
    // The step and, beside it, the evaluation, which reads the same parameters.
    for (auto func : module.getOps<func::FuncOp>()) {
      if (!func.isPublic())
        continue;
      ConstraintWriter writer(func, meshOp);
      for (const ConstraintPlan &wish : plan.constraints)
        if (failed(writer.write(wish)))
          return signalPassFailure();
      writer.finish();
    }
  }

private:
  Plan plan;
};
} // namespace
