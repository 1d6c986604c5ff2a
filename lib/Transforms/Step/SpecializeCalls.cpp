//===- SpecializeCalls.cpp - A function per way to lie --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/ProgramForm.h"
#include "dist/Plan/Plan.h"
#include "dist/Transforms/Passes.h"

namespace dist {
#define GEN_PASS_DEF_SPECIALIZECALLS
#include "dist/Transforms/Passes.h.inc"
} // namespace dist

using namespace mlir;
using namespace dist;

namespace {
/// Gives calls whose operands the user wants to lie differently functions of
/// their own. A wish is an attribute, unit where there is none.
class Specializer {
public:
  Specializer(ModuleOp module, const Plan &plan)
      : symbols(module), plan(plan), none(UnitAttr::get(module.getContext())) {}

  void run(func::FuncOp entry);

private:
  Attribute getWish(func::FuncOp entry, unsigned arg);
  void visit(func::FuncOp func, ArrayRef<Attribute> wishes);
  /// The function of `callee`'s body for operands of `wishes`.
  func::FuncOp getInstance(func::FuncOp callee, ArrayAttr wishes);

  SymbolTable symbols;
  const Plan &plan;
  Attribute none;
  struct Family {
    Operation *pristine; ///< as written: its calls are not specialized
    llvm::SmallMapVector<Attribute, func::FuncOp, 2> members; ///< by wishes
  };
  llvm::MapVector<StringRef, Family> families; ///< by the first's name
  llvm::StringMap<StringRef> familyOf;
};
} // namespace

/// What the model and the plan's constraints want of an argument.
Attribute Specializer::getWish(func::FuncOp entry, unsigned arg) {
  auto param = entry.getArgAttrOfType<StringAttr>(arg, nn::kParamAttrName);
  SmallVector<Attribute> wishes;
  if (Attribute pinned = entry.getArgAttr(arg, kShardingAttrName))
    wishes.push_back(pinned);
  for (const ConstraintPlan &wish : plan.constraints)
    if (param && matchesGlob(wish.param, param.getValue()))
      wishes.push_back(StringAttr::get(entry.getContext(), wish.sharding));
  return wishes.empty() ? none : ArrayAttr::get(entry.getContext(), wishes);
}

func::FuncOp Specializer::getInstance(func::FuncOp callee, ArrayAttr wishes) {
  auto [known, isNew] =
      familyOf.try_emplace(callee.getName(), callee.getName());
  Family &family = families[known->second];
  if (isNew)
    family.pristine = callee->clone();
  func::FuncOp &member = family.members[wishes];
  if (member)
    return member;
  if (family.members.size() == 1)
    return member = callee;
  auto fresh = cast<func::FuncOp>(family.pristine->clone());
  fresh.setName(
      (known->second + "__" + Twine(family.members.size() - 1)).str());
  symbols.insert(fresh, std::next(Block::iterator(callee)));
  familyOf[fresh.getName()] = known->second;
  return member = fresh;
}

void Specializer::visit(func::FuncOp func, ArrayRef<Attribute> wishes) {
  llvm::DenseMap<Value, Attribute> wishOf;
  for (auto [arg, wish] : llvm::zip_equal(func.getArguments(), wishes))
    wishOf[arg] = wish;
  for (Operation &op : func.getBody().front()) {
    if (auto constraint = dyn_cast<ConstraintOp>(op))
      wishOf[constraint.getResult()] = constraint.getSharding();
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      continue;
    SmallVector<Attribute> wanted;
    for (Value operand : call.getOperands()) {
      Attribute wish = wishOf.lookup(operand);
      wanted.push_back(wish ? wish : none);
    }
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    auto key = ArrayAttr::get(func.getContext(), wanted);
    bool isKnown = familyOf.contains(callee.getName()) &&
                   families[familyOf[callee.getName()]].members.contains(key);
    func::FuncOp instance = getInstance(callee, key);
    call.setCallee(instance.getName());
    if (!isKnown)
      visit(instance, wanted);
  }
}

void Specializer::run(func::FuncOp entry) {
  SmallVector<Attribute> wishes;
  for (unsigned arg = 0; arg < entry.getNumArguments(); ++arg)
    wishes.push_back(getWish(entry, arg));
  visit(entry, wishes);
  for (auto &[name, family] : families)
    family.pristine->destroy();
}

namespace {
struct SpecializeCalls : dist::impl::SpecializeCallsBase<SpecializeCalls> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (constraints.empty())
      return success();
    if (llvm::Error error = readPlanFlag("constraints", constraints, plan))
      return emitError(UnknownLoc::get(context))
             << llvm::toString(std::move(error));
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyForm(module)))
      return signalPassFailure();
    if (auto entry = module.lookupSymbol<func::FuncOp>(this->entry))
      Specializer(module, plan).run(entry);
  }

private:
  Plan plan;
};
} // namespace
