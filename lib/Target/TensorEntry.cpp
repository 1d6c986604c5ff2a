//===- TensorEntry.cpp - A tensor as the manifest has it ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorEntry.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dist;
namespace json = llvm::json;

std::string dist::getText(AxisAttr axis) {
  std::string text = axis.getName().str();
  if (!axis.isWhole())
    text += ":(" + std::to_string(axis.getPre()) + ")" +
            std::to_string(axis.getSize());
  return text;
}

json::Object TensorEntry::toJson() const {
  json::Array splits;
  for (AxesAttr split : axes) {
    json::Array names;
    if (split)
      for (AxisAttr axis : split.getAxes())
        names.push_back(getText(axis));
    splits.push_back(std::move(names));
  }
  return json::Object{{"dtype", dtype},
                      {"shape", json::Array(shape)},
                      {"dims", json::Array(dims)},
                      {"axes", std::move(splits)}};
}

StringRef dist::getDType(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float64Type) { return "f64"; })
      .Case([](Float32Type) { return "f32"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float16Type) { return "f16"; })
      .Case([](IntegerType type) {
        return type.getWidth() == 64   ? "i64"
               : type.getWidth() == 32 ? "i32"
               : type.getWidth() == 1  ? "i1"
                                       : "";
      })
      .Default([](Type) { return ""; });
}

/// How many of the stored dimensions spell each logical one.
static FailureOr<SmallVector<size_t>>
getGroups(func::FuncOp entry, StringAttr logical, size_t rank) {
  if (!logical)
    return SmallVector<size_t>(rank, 1);
  auto pattern = nn::PatternAttr::parseText(
      [&] { return entry.emitError("'dist.logical': "); }, entry.getContext(),
      ("-> " + logical.getValue()).str());
  if (!pattern)
    return failure();
  SmallVector<size_t> groups;
  size_t sum = 0;
  for (ArrayAttr group : pattern.getResult().getDims()) {
    groups.push_back(group.size());
    sum += group.size();
  }
  if (sum != rank)
    return entry.emitError("'dist.logical' is \"")
           << logical.getValue() << "\", which names " << sum
           << " dimensions, but the tensor has " << rank;
  return groups;
}

static FailureOr<TensorEntry> describe(func::FuncOp entry, Type type,
                                       Attribute sharding, Attribute logical) {
  auto tensor = cast<RankedTensorType>(type);
  auto split = dyn_cast_if_present<ShardingAttr>(sharding);
  MeshOp mesh = lookupMesh(entry);
  TensorEntry described;
  described.dtype = getDType(tensor.getElementType());
  if (described.dtype.empty())
    return entry.emitError("has elements of type ")
           << tensor.getElementType()
           << ", expected f64, f32, bf16, f16, i64, i32 or i1";
  if (split && !mesh)
    return entry.emitError("is sharded, but the module has no mesh");
  for (auto [index, size] : llvm::enumerate(tensor.getShape())) {
    AxesAttr axes = split ? split.getDims()[index] : AxesAttr();
    described.axes.push_back(axes);
    described.dims.push_back(axes ? size * mesh.getGroupSize(axes.getAxes())
                                  : size);
  }
  auto groups = getGroups(entry, dyn_cast_if_present<StringAttr>(logical),
                          described.dims.size());
  if (failed(groups))
    return failure();
  ArrayRef<int64_t> rest = described.dims;
  for (size_t group : *groups) {
    described.shape.push_back(llvm::product_of(rest.take_front(group)));
    rest = rest.drop_front(group);
  }
  return described;
}

FailureOr<TensorEntry> dist::describeArgument(func::FuncOp entry,
                                              unsigned index) {
  return describe(entry, entry.getArgumentTypes()[index],
                  entry.getArgAttr(index, kShardingAttrName),
                  entry.getArgAttr(index, kLogicalAttrName));
}

FailureOr<TensorEntry> dist::describeResult(func::FuncOp entry,
                                            unsigned index) {
  return describe(entry, entry.getResultTypes()[index],
                  entry.getResultAttr(index, kShardingAttrName),
                  entry.getResultAttr(index, kLogicalAttrName));
}
