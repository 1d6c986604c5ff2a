//===- Segments.cpp - The lowered bodies of a program's segments ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Segments.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

using namespace mlir;
using namespace dist;

int64_t dist::getByteSize(ShapedType type) {
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

Segments::Segments(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (auto name = func->getAttrOfType<StringAttr>(kSegmentAttrName))
      bodies[name] = func;
}

/// True if `memref` is a buffer of `tensor`.
static bool isBufferOf(Type memref, Type tensor) {
  auto buffer = dyn_cast<MemRefType>(memref);
  auto value = dyn_cast<RankedTensorType>(tensor);
  return buffer && value && buffer.getShape() == value.getShape() &&
         buffer.getElementType() == value.getElementType() &&
         buffer.getLayout().isIdentity();
}

static bool isWorkspace(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.hasStaticShape() && buffer.getRank() == 1 &&
         buffer.getElementType().isInteger(8);
}

FailureOr<func::FuncOp> Segments::lookupBody(func::CallOp call) const {
  func::FuncOp body = bodies.lookup(call.getCallee());
  if (!body)
    return call.emitError("calls '")
           << call.getCallee() << "', which has no lowered body";
  ArrayRef<Type> types = body.getArgumentTypes();
  SmallVector<Type> tensors(call.getOperandTypes());
  llvm::append_range(tensors, call.getResultTypes());
  bool fits =
      types.size() == tensors.size() + 2 &&
      isa<LLVM::LLVMPointerType>(types.front()) && isWorkspace(types.back()) &&
      body.getNumResults() == 0 &&
      llvm::all_of(llvm::zip(types.drop_front(), tensors), [](auto pair) {
        return isBufferOf(std::get<0>(pair), std::get<1>(pair));
      });
  if (fits)
    return body;
  InFlightDiagnostic error =
      body.emitError("has the type ")
      << body.getFunctionType()
      << ", expected the rank, a memref for each tensor, a workspace";
  error.attachNote(call.getLoc()) << "of this call";
  return error;
}

int64_t Segments::getWorkspaceBytes(func::FuncOp body) {
  return getByteSize(cast<MemRefType>(body.getArgumentTypes().back()));
}

int64_t Segments::lookupInPlaceArgument(func::FuncOp body, int64_t result) {
  auto pairs = body->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttrName);
  if (!pairs)
    return -1;
  ArrayRef<int64_t> flat = pairs;
  for (; flat.size() >= 2; flat = flat.drop_front(2))
    if (flat[0] == result)
      return flat[1];
  return -1;
}
