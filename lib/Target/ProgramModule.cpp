//===- ProgramModule.cpp - The data and entry points of a program ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramModule.h"
#include "dist/runtime.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace dist;

namespace {
class ProgramWriter {
public:
  explicit ProgramWriter(ModuleOp module)
      : module(module), b(module.getLoc(), module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {
    b.setInsertionPointToEnd(module.getBody());
  }

  /// Functions of other parts.
  LLVM::LLVMFuncOp declareSegment(StringRef segment);
  LLVM::GlobalOp writeTable(ArrayRef<LLVM::LLVMFuncOp> functions);
  LLVM::GlobalOp writeText(StringRef name, StringRef text);
  LLVM::GlobalOp writeProgram(LLVM::GlobalOp manifest, int64_t manifestBytes,
                              LLVM::GlobalOp table, int64_t numSegments);
  void writeMain(LLVM::GlobalOp program);

private:
  /// A constant whose value `init` builds.
  LLVM::GlobalOp writeConstant(StringRef name, Type type, LLVM::Linkage linkage,
                               llvm::function_ref<Value()> init);
  Value insert(Value aggregate, Value element, int64_t at) {
    return LLVM::InsertValueOp::create(b, aggregate, element, at);
  }
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, value);
  }

  ModuleOp module;
  ImplicitLocOpBuilder b;
  Type pointer;
};
} // namespace

/// A body without loops calls one kernel after the other. To inline those and
/// to select instructions with care takes most of the time of compiling a deep
/// model and saves nothing when it runs.
static void skipOptimization(LLVM::LLVMFuncOp body) {
  if (!body.getBody().hasOneBlock())
    return;
  Builder b(body.getContext());
  body.setPassthroughAttr(b.getArrayAttr(
      {b.getStringAttr("noinline"), b.getStringAttr("optnone")}));
}

/// `void SEG_segment(rank, arena, offsets)`.
static LLVM::LLVMFuncOp createSegment(OpBuilder &b, Location loc,
                                      StringRef segment) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer, pointer});
  return LLVM::LLVMFuncOp::create(b, loc, (segment + "_segment").str(), type);
}

/// Behind `body`, the function that calls it with addresses in the arena.
static void writeTrampoline(LLVM::LLVMFuncOp body, StringRef segment) {
  body.setLinkage(LLVM::Linkage::Internal);
  skipOptimization(body);
  ImplicitLocOpBuilder b(body.getLoc(), body.getContext());
  b.setInsertionPointAfter(body);
  LLVM::LLVMFuncOp function = createSegment(b, b.getLoc(), segment);
  Block *block = function.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value arena = block->getArgument(1), offsets = block->getArgument(2);
  SmallVector<Value> arguments = {block->getArgument(0)};
  for (int32_t i = 0, e = body.getNumArguments() - 1; i < e; ++i) {
    Value at = LLVM::GEPOp::create(b, pointer, b.getI64Type(), offsets,
                                   ArrayRef<LLVM::GEPArg>{i});
    Value offset = LLVM::LoadOp::create(b, b.getI64Type(), at);
    arguments.push_back(LLVM::GEPOp::create(b, pointer, b.getI8Type(), arena,
                                            ArrayRef<LLVM::GEPArg>{offset}));
  }
  LLVM::CallOp::create(b, body, arguments);
  LLVM::ReturnOp::create(b, ValueRange());
}

LLVM::LLVMFuncOp ProgramWriter::declareSegment(StringRef segment) {
  return createSegment(b, b.getLoc(), segment);
}

LLVM::GlobalOp ProgramWriter::writeConstant(StringRef name, Type type,
                                            LLVM::Linkage linkage,
                                            llvm::function_ref<Value()> init) {
  auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true, linkage,
                                       name, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, init());
  return global;
}

LLVM::GlobalOp ProgramWriter::writeTable(ArrayRef<LLVM::LLVMFuncOp> functions) {
  auto type = LLVM::LLVMArrayType::get(pointer, functions.size());
  return writeConstant("dist_segments", type, LLVM::Linkage::Internal, [&] {
    Value table = LLVM::UndefOp::create(b, type);
    for (auto [index, function] : llvm::enumerate(functions))
      table = insert(table, LLVM::AddressOfOp::create(b, function), index);
    return table;
  });
}

LLVM::GlobalOp ProgramWriter::writeText(StringRef name, StringRef text) {
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
  return LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, name,
                                b.getStringAttr(text));
}

/// The struct `dist_program` of runtime.h.
LLVM::GlobalOp ProgramWriter::writeProgram(LLVM::GlobalOp manifest,
                                           int64_t manifestBytes,
                                           LLVM::GlobalOp table,
                                           int64_t numSegments) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {i32, i32, pointer, i64, pointer});
  return writeConstant("dist_program", type, LLVM::Linkage::External, [&] {
    Value program = LLVM::UndefOp::create(b, type);
    program = insert(program, constant(i32, DIST_ABI_VERSION), 0);
    program = insert(program, constant(i32, numSegments), 1);
    program = insert(program, LLVM::AddressOfOp::create(b, manifest), 2);
    program = insert(program, constant(i64, manifestBytes), 3);
    return insert(program, LLVM::AddressOfOp::create(b, table), 4);
  });
}

/// int main(int argc, char **argv) { return dist_main(&program, argc, argv); }
void ProgramWriter::writeMain(LLVM::GlobalOp program) {
  Type i32 = b.getI32Type();
  auto runtime = LLVM::LLVMFuncOp::create(
      b, "dist_main",
      LLVM::LLVMFunctionType::get(i32, {pointer, i32, pointer}));
  auto main = LLVM::LLVMFuncOp::create(
      b, "main", LLVM::LLVMFunctionType::get(i32, {i32, pointer}));
  Block *block = main.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  Value status = LLVM::CallOp::create(
                     b, runtime,
                     ValueRange{LLVM::AddressOfOp::create(b, program),
                                block->getArgument(0), block->getArgument(1)})
                     .getResult();
  LLVM::ReturnOp::create(b, status);
}

LogicalResult dist::addProgram(ModuleOp program, ArrayRef<ModuleOp> parts,
                               ArrayRef<std::string> segments,
                               StringRef manifest) {
  llvm::StringMap<LLVM::LLVMFuncOp> bodies;
  for (ModuleOp part : parts)
    for (auto function : part.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        bodies[function.getName()] = function;
  ProgramWriter writer(program);
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (const std::string &segment : segments) {
    std::string name = segment + "_body";
    LLVM::LLVMFuncOp body = bodies.lookup(name);
    if (!body)
      return program.emitError("has no function '") << name << "'";
    writeTrampoline(body, segment);
    functions.push_back(writer.declareSegment(segment));
  }
  LLVM::GlobalOp table = writer.writeTable(functions);
  LLVM::GlobalOp text = writer.writeText("dist_manifest", manifest);
  writer.writeMain(
      writer.writeProgram(text, manifest.size(), table, functions.size()));
  return success();
}
