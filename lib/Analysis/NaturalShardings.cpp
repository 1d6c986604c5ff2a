//===- NaturalShardings.cpp - The axes of every class ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Analysis/NaturalShardings.h"
#include "dist/Analysis/TensorParallelSearch.h"
#include "dist/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace dist;

func::FuncOp dist::lookupEntry(ModuleOp module) {
  for (StringRef name : {"step", "loss"})
    if (auto func = module.lookupSymbol<func::FuncOp>(name))
      return func;
  func::FuncOp entry;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isPrivate())
      continue;
    if (entry)
      return nullptr;
    entry = func;
  }
  return entry;
}

std::string dist::describeArgument(func::FuncOp func, unsigned index) {
  static constexpr std::pair<StringLiteral, StringLiteral> kinds[] = {
      {nn::kParamAttrName, "parameter"},
      {nn::kStateAttrName, "state"},
      {nn::kInputAttrName, "input"}};
  for (auto [attr, kind] : kinds)
    if (auto name = func.getArgAttrOfType<StringAttr>(index, attr))
      return (kind + " '" + name.getValue() + "'").str();
  return "argument #" + std::to_string(index);
}

std::pair<unsigned, unsigned> dist::getSpeltDims(func::FuncOp func,
                                                 unsigned index, unsigned dim) {
  auto logical = func.getArgAttrOfType<StringAttr>(index, kLogicalAttrName);
  if (!logical)
    return {dim, 1};
  auto pattern = nn::PatternAttr::parseText([&] { return func.emitError(); },
                                            func.getContext(),
                                            ("-> " + logical.getValue()).str());
  if (!pattern)
    return {dim, 0};
  unsigned first = 0;
  ArrayRef<ArrayAttr> dims = pattern.getResult().getDims();
  for (ArrayAttr group : dims.take_front(dim))
    first += group.size();
  return {first, unsigned(dims[dim].size())};
}

NaturalShardings::NaturalShardings(const FactorClasses &classes, MeshOp mesh)
    : classes(&classes), mesh(mesh), axes(classes.getNumClasses()) {}

FailureOr<NaturalShardings>
NaturalShardings::compute(ModuleOp module, const FactorClasses &classes,
                          MeshOp mesh) {
  NaturalShardings result(classes, mesh);
  func::FuncOp entry = lookupEntry(module);
  if (!entry)
    return module.emitError("has no entry function: name it 'loss'");
  if (failed(result.splitBatch(entry)))
    return failure();
  result.splitParameters(module, entry);
  return result;
}

/// The batch dimension of an input: 0 unless `nn.batch` says; none where
/// `nn.no_batch` does.
static std::optional<int64_t> getBatchDim(func::FuncOp entry, unsigned arg) {
  if (!entry.getArgAttr(arg, nn::kInputAttrName) ||
      entry.getArgAttr(arg, nn::kNoBatchAttrName))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[arg]);
  if (!type || type.getRank() == 0)
    return std::nullopt;
  if (auto dim = entry.getArgAttrOfType<IntegerAttr>(arg, nn::kBatchAttrName))
    return dim.getInt();
  return 0;
}

/// Fails, after an error, unless argument `index` has a logical dimension
/// `dim`.
static LogicalResult verifyBatchDim(func::FuncOp entry, unsigned index,
                                    int64_t dim) {
  int64_t rank =
      cast<RankedTensorType>(entry.getArgumentTypes()[index]).getRank();
  if (auto logical =
          entry.getArgAttrOfType<StringAttr>(index, kLogicalAttrName)) {
    auto pattern = nn::PatternAttr::parseText(
        [&] { return entry.emitError(describeArgument(entry, index)) << ": "; },
        entry.getContext(), ("-> " + logical.getValue()).str());
    if (!pattern)
      return failure();
    rank = pattern.getResult().getDims().size();
  }
  if (dim >= 0 && dim < rank)
    return success();
  return entry.emitError(describeArgument(entry, index))
         << ": nn.batch is " << dim << ", but the tensor has " << rank
         << " dimensions";
}

LogicalResult NaturalShardings::splitBatch(func::FuncOp entry) {
  MLIRContext *context = entry.getContext();
  if (!mesh.hasAxis("dp"))
    return success();
  auto dp = AxisAttr::get(context, StringAttr::get(context, "dp"));
  int64_t size = mesh.getAxisSize(dp);
  if (size == 1)
    return success();
  for (BlockArgument arg : entry.getArguments()) {
    std::optional<int64_t> batch = getBatchDim(entry, arg.getArgNumber());
    if (!batch)
      continue;
    if (failed(verifyBatchDim(entry, arg.getArgNumber(), *batch)))
      return failure();
    auto [dim, count] = getSpeltDims(entry, arg.getArgNumber(), *batch);
    int64_t elements = cast<RankedTensorType>(arg.getType()).getDimSize(dim);
    if (elements % size != 0) {
      InFlightDiagnostic diag =
          entry.emitError(describeArgument(entry, arg.getArgNumber()))
          << ": batch dimension " << *batch << " of size " << elements
          << " does not divide over dp=" << size;
      diag.attachNote() << "use a batch that is a multiple of " << size;
      return diag;
    }
    axes[classes->getClass(arg, dim)] = {dp};
  }
  return success();
}

void NaturalShardings::splitParameters(ModuleOp module, func::FuncOp entry) {
  MLIRContext *context = module.getContext();
  if (!mesh.hasAxis("tp"))
    return;
  auto tp = AxisAttr::get(context, StringAttr::get(context, "tp"));
  int64_t size = mesh.getAxisSize(tp);
  if (size == 1)
    return;
  auto mayBeSplit = [&](unsigned id) { return axes[id].empty(); };
  TensorParallelSearch search(module, entry, *classes, size, mayBeSplit);
  for (unsigned id : search.run())
    axes[id].push_back(tp);
}

ShardingAttr NaturalShardings::getSharding(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  MLIRContext *context = type.getContext();
  MeshOp mesh = this->mesh; // the accessors of an op are not const
  SmallVector<AxisAttr> used;
  SmallVector<AxesAttr> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    SmallVector<AxisAttr> mine;
    for (AxisAttr axis : getAxes(classes->getClass(value, dim)))
      if (llvm::none_of(used, [&](AxisAttr a) { return overlap(a, axis); }))
        mine.push_back(axis);
    llvm::append_range(used, mine);
    dims.push_back(AxesAttr::get(context, mine));
  }
  return ShardingAttr::get(context,
                           FlatSymbolRefAttr::get(mesh.getSymNameAttr()), dims);
}
