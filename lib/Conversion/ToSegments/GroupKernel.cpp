//===- GroupKernel.cpp - A fusion group as a kernel -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "KernelWriter.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "ScalarBody.h"
#include "dist/Conversion/RowKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dist;

bool dist::isFusible(Operation *op) {
  if (hasScalarBody(op))
    return true;
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  return lowering && lowering->write && (!lowering->fits || lowering->fits(op));
}

bool dist::readsBuffers(Operation *op) {
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  return lowering && lowering->reads != Reads::Elements;
}

Value dist::lookupIndexedOperand(Operation *op) {
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  return lowering && lowering->reads == Reads::Indexed ? op->getOperand(0)
                                                       : Value();
}

/// What `ops` come from: the ops of the model or of the optimizer where they
/// are known, else the ops themselves.
static std::string describe(ArrayRef<Operation *> ops) {
  llvm::SetVector<StringRef> names;
  for (Operation *op : ops)
    if (auto origin = dyn_cast<NameLoc>(op->getLoc()))
      names.insert(origin.getName());
    else if (!isa<nn::RepeatOp, arith::ConstantOp>(op))
      names.insert(op->getName().stripDialect());
  return llvm::join(names, " ");
}

static std::string describe(RankedTensorType type) {
  return llvm::join(
      llvm::map_range(type.getShape(),
                      [](int64_t size) { return std::to_string(size); }),
      "x");
}

/// Stores the first position of this device's block in a scalar buffer.
static Value buildOffset(SegmentBuilder &b,
                         const KernelWriter::Offset &offset) {
  Value group = b.getGroupIndex(offset.place.getDims()[offset.dim].getAxes());
  Value index = arith::MulIOp::create(b, group, b.constantI64(offset.block));
  auto type = RankedTensorType::get({}, b.getI64Type());
  View view = b.allocateTemporary(type);
  Value buffer = b.getMemref(view, type);
  memref::StoreOp::create(b, index, buffer, ValueRange());
  return buffer;
}

/// Calls the kernel of the tables that `op` reads; where they lie.
static SmallVector<View> buildAngles(SegmentBuilder &b, nn::RopeOp op) {
  func::FuncOp kernel = KernelWriter(b, {op.getOperation()}).writeAngles(op);
  RankedTensorType type = KernelWriter::getAngleType(op);
  SmallVector<View> tables{b.allocateTemporary(type),
                           b.allocateTemporary(type)};
  SmallVector<Value> arguments{b.getRank(), b.getMemref(op.getPositions())};
  if (op.getFreqs())
    arguments.push_back(b.getMemref(op.getFreqs()));
  for (const View &table : tables)
    arguments.push_back(b.getMemref(table, type));
  b.mark("kernel", "angles");
  func::CallOp::create(b, b.getPool().intern(kernel), arguments);
  b.nextUnit();
  return tables;
}

/// What `writer`'s kernel reads behind its outputs.
static SmallVector<Value> buildExtras(SegmentBuilder &b,
                                      const KernelWriter &writer) {
  // All tables first: buffers live while the kernel of the same unit runs.
  llvm::DenseMap<Operation *, SmallVector<View>> tables;
  for (const KernelWriter::Extra &extra : writer.getExtras())
    if (const auto *op = std::get_if<nn::RopeOp>(&extra))
      tables[*op] = buildAngles(b, *op);
  SmallVector<Value> extras;
  for (const KernelWriter::Extra &extra : writer.getExtras()) {
    if (const auto *offset = std::get_if<KernelWriter::Offset>(&extra)) {
      extras.push_back(buildOffset(b, *offset));
      continue;
    }
    auto op = std::get<nn::RopeOp>(extra);
    for (const View &table : tables[op])
      extras.push_back(b.getMemref(table, KernelWriter::getAngleType(op)));
  }
  return extras;
}

/// Calls `kernel`, which `writer` wrote, with `workspaceBytes` of scratch.
static void callKernel(SegmentBuilder &b, KernelWriter &writer,
                       func::FuncOp kernel, StringRef name,
                       int64_t workspaceBytes) {
  SmallVector<Value> extras = buildExtras(b, writer);
  SmallVector<Value> arguments{b.getRank()};
  for (Value input : writer.getInputs())
    arguments.push_back(b.getMemref(input));
  for (Value output : writer.getOutputs())
    if (!writer.getReplaced(output))
      arguments.push_back(b.getMemref(output));
  llvm::append_range(arguments, extras);
  if (workspaceBytes > 0) {
    auto type = MemRefType::get({workspaceBytes}, b.getI8Type());
    unsigned index = kernel.getNumArguments();
    (void)kernel.insertArgument(index, type, {}, b.getLoc());
    kernel.setArgAttr(index, "dist.workspace", b.getUnitAttr());
    arguments.push_back(b.getScratch(workspaceBytes));
  }
  b.mark("kernel", name);
  func::CallOp::create(b, b.getPool().intern(kernel), arguments);
}

/// Gives the outputs of `ops` buffers; those that are computed in place.
static SmallVector<Value> allocateOutputs(SegmentBuilder &b,
                                          const KernelWriter &writer,
                                          ArrayRef<Operation *> ops) {
  SmallVector<Value> replacing;
  for (Value output : writer.getOutputs()) {
    if (b.hasView(output))
      continue;
    if (b.replaceArgument(output, ops))
      replacing.push_back(output);
    else if (!placeForReaders(b, output))
      b.allocate(output);
  }
  return replacing;
}

/// Writes `ops` as one kernel and calls it; if no kernel can be made of them,
/// says in `why` what is in the way.
static LogicalResult lowerAsOne(SegmentBuilder &b, ArrayRef<Operation *> ops,
                                std::string &why) {
  KernelWriter writer(b, ops);
  SmallVector<Value> replacing = allocateOutputs(b, writer, ops);
  func::FuncOp kernel = writer.write();
  FailureOr<int64_t> workspace = failure();
  {
    ScopedDiagnosticHandler handler(b.getContext(), [&](Diagnostic &diag) {
      why += diag.str() + "; ";
      return success();
    });
    workspace = computeRowKernelWorkspace(kernel);
  }
  if (succeeded(workspace)) {
    callKernel(b, writer, kernel, describe(ops), *workspace);
    b.nextUnit();
    return success();
  }
  kernel.erase();
  if (replacing.empty())
    return failure();
  for (Value output : replacing)
    b.leaveArgument(output);
  why.clear();
  return lowerAsOne(b, ops, why);
}

LogicalResult dist::lowerGroup(SegmentBuilder &b, ArrayRef<Operation *> ops) {
  std::string why;
  if (KernelWriter(b, ops).getOutputs().empty() ||
      succeeded(lowerAsOne(b, ops, why))) {
    for (Operation *op : ops)
      b.markLowered(op);
    return success();
  }
  if (ops.size() == 1)
    return ops.front()->emitOpError("cannot be written as a loop over rows: ")
           << why;
  size_t half = ops.size() / 2;
  return success(succeeded(lowerGroup(b, ops.take_front(half))) &&
                 succeeded(lowerGroup(b, ops.drop_front(half))));
}

LogicalResult dist::lowerCopy(SegmentBuilder &b, RankedTensorType type,
                              const View &from, const View &to) {
  OpBuilder::InsertionGuard guard(b);
  Value source = b.getMemref(from, type), target = b.getMemref(to, type);
  ProgramPool &pool = b.getPool();
  ImplicitLocOpBuilder k(b.getLoc(), b.getContext());
  k.setInsertionPointToEnd(pool.getModule().getBody());
  auto kernel = func::FuncOp::create(
      k, "k",
      k.getFunctionType({LLVM::LLVMPointerType::get(b.getContext()),
                         source.getType(), target.getType()},
                        {}));
  kernel->setAttr("dist.kernel", k.getUnitAttr());
  kernel.setPrivate();
  Block *block = kernel.addEntryBlock();
  k.setInsertionPointToStart(block);
  Value in = bufferization::ToTensorOp::create(k, type, block->getArgument(1),
                                               /*restrict=*/true);
  Value empty =
      tensor::EmptyOp::create(k, type.getShape(), type.getElementType());
  AffineMap identity = k.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      k, TypeRange(type), ValueRange(in), ValueRange(empty),
      ArrayRef<AffineMap>{identity, identity}, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args[0]);
      });
  bufferization::MaterializeInDestinationOp::create(
      k, Type(), generic.getResult(0), block->getArgument(2),
      /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(k);
  if (failed(computeRowKernelWorkspace(kernel)))
    return failure();
  b.mark("copy", describe(type));
  func::CallOp::create(b, pool.intern(kernel),
                       ValueRange{b.getRank(), source, target});
  b.nextUnit();
  return success();
}
