//===- Report.cpp - What a compiled step sends and computes ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Report/Report.h"
#include "StepSlices.h"
#include "dist/Analysis/NaturalShardings.h"
#include "dist/Cost/CollectiveCost.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "dist/Interfaces/CostOpInterface.h"

using namespace mlir;
using namespace dist;

int64_t Report::getNumDevices() const {
  int64_t count = 1;
  for (const auto &axis : mesh)
    count *= axis.second;
  return count;
}

//===----------------------------------------------------------------------===//
// Flops
//===----------------------------------------------------------------------===//

static int64_t countFlops(func::FuncOp func, const SymbolTable &symbols,
                          llvm::DenseMap<Operation *, int64_t> &known) {
  if (auto it = known.find(func); it != known.end())
    return it->second;
  int64_t flops = 0;
  func.walk([&](Operation *op) {
    if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops();
    else if (auto call = dyn_cast<func::CallOp>(op))
      flops += countFlops(symbols.lookup<func::FuncOp>(call.getCallee()),
                          symbols, known);
  });
  return known[func] = flops;
}

int64_t dist::countFlops(ModuleOp module) {
  func::FuncOp entry = lookupEntry(module);
  llvm::DenseMap<Operation *, int64_t> known;
  return entry ? ::countFlops(entry, SymbolTable(module), known) : 0;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// `gpt.mlir:12:3`, of the first place that is in a file.
static std::string getText(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()))
      .str();
}

static std::string getText(AxisAttr axis) {
  std::string text = axis.getName().str();
  if (!axis.isWhole())
    text += ":(" + std::to_string(axis.getPre()) + ")" +
            std::to_string(axis.getSize());
  return text;
}

/// What `value` is: `param:w`, `tokens`, or the op that makes it.
static std::string describe(Value value) {
  auto func = cast<func::FuncOp>(
      isa<BlockArgument>(value)
          ? cast<BlockArgument>(value).getOwner()->getParentOp()
          : value.getDefiningOp()->getParentOp());
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      if (std::string name = getResultName(func, use.getOperandNumber());
          !name.empty())
        return name;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    for (StringRef kind :
         {nn::kParamAttrName, nn::kInputAttrName, nn::kStateAttrName})
      if (auto name =
              func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kind))
        return name.str();
    return ("argument #" + Twine(arg.getArgNumber()) + " of @" + func.getName())
        .str();
  }
  Operation *op = value.getDefiningOp();
  if (auto call = dyn_cast<func::CallOp>(op))
    return ("result #" + Twine(cast<OpResult>(value).getResultNumber()) +
            " of @" + call.getCallee())
        .str();
  return (op->getName().getStringRef() + " in @" + func.getName()).str();
}

static std::string getReason(Operation *op) {
  if (auto reason = op->getAttrOfType<StringAttr>("dist.reason"))
    return reason.str();
  std::string operand = describe(op->getOperand(0));
  if (isa<AllReduceOp>(op))
    return "each device owes a part of " + operand;
  if (isa<ReduceScatterOp>(op))
    return "each device owes a part of " + operand + " and keeps a block";
  if (isa<AllGatherOp>(op))
    return operand + " is divided and wanted whole";
  if (isa<AllToAllOp>(op))
    return operand + " is divided along one dimension and wanted divided "
                     "along another";
  return operand + " travels to a neighbour";
}

static CollectiveEntry describe(Operation *op, AxesAttr axes, MeshOp mesh) {
  CollectiveEntry entry;
  entry.op = op->getName().stripDialect().str();
  for (AxisAttr axis : axes.getAxes())
    entry.axes.push_back(getText(axis));
  entry.group = mesh.getGroupSize(axes.getAxes());
  for (Type type : op->getResultTypes())
    entry.resultBytes += getBytes(type);
  entry.wireBytes = getWireBytes(op, entry.group);
  entry.reason = getReason(op);
  // An inner result has no name of its own: say whose value travels.
  bool isNamed = llvm::any_of(op->getResult(0).getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user);
  });
  entry.value = describe(isNamed ? op->getResult(0) : op->getOperand(0));
  entry.loc = getText(op->getLoc());
  return entry;
}

void dist::collectFromLocal(ModuleOp module, Report &report) {
  func::FuncOp entry = lookupEntry(module);
  MeshOp mesh = lookupMesh(module);
  report.hardwareFlops = countFlops(module);
  if (!mesh || !entry)
    return;
  for (auto [axis, size] : llvm::zip_equal(
           mesh.getAxes().getAsRange<StringAttr>(), mesh.getShape()))
    report.mesh.emplace_back(axis.str(), size);
  report.hardwareFlops *= report.getNumDevices();
  StepSlices slices(module, entry);
  module.walk([&](Operation *op) {
    AxesAttr axes = lookupCollectiveAxes(op);
    if (!axes)
      return;
    for (StepPart part :
         {StepPart::Forward, StepPart::Backward, StepPart::Update}) {
      int64_t count = slices.getCount(op, part);
      if (count == 0)
        continue;
      CollectiveEntry &collective =
          report.collectives.emplace_back(describe(op, axes, mesh));
      collective.count = count;
      collective.phase = getName(part).str();
    }
  });
}
