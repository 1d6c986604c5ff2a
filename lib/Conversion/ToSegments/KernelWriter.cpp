//===- KernelWriter.cpp - Ops of a group as generics ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"
#include "GroupKernel.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "ScalarBody.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;

/// The value of a splat constant, or null.
static TypedAttr getSplat(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return dense && dense.isSplat() ? dense.getSplatValue<TypedAttr>() : nullptr;
}

KernelWriter::KernelWriter(SegmentBuilder &segment, ArrayRef<Operation *> ops)
    : segment(segment), ops(ops),
      b(ops.front()->getLoc(), segment.getContext()) {
  collect();
}

void KernelWriter::collect() {
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  for (Operation *op : ops) {
    // Of the positions, a rotation reads tables.
    unsigned count = isa<nn::RopeOp>(op) ? 1 : op->getNumOperands();
    for (Value operand : op->getOperands().take_front(count))
      if (!inside.contains(operand.getDefiningOp()) &&
          (!getSplat(operand) || readsBuffers(op)))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }
}

/// A splat constant that is no buffer is written out, to fuse with its reader.
Value KernelWriter::lookup(Value value) {
  if (Value known = tensors.lookup(value))
    return known;
  TypedAttr splat = getSplat(value);
  return tensors[value] =
             writeMap(typeOf(value), {}, {},
                      [&](ImplicitLocOpBuilder &nested, ValueRange) -> Value {
                        return arith::ConstantOp::create(nested, splat);
                      });
}

/// The map from loops over the dimensions of `loops` to those of `term`.
AffineMap KernelWriter::getMap(nn::TermAttr term, nn::TermAttr loops) {
  SmallVector<AffineExpr> exprs;
  for (ArrayAttr dim : term.getDims())
    exprs.push_back(dim.empty()
                        ? b.getAffineConstantExpr(0) // a unit
                        : b.getAffineDimExpr(llvm::find(loops.getDims(), dim) -
                                             loops.getDims().begin()));
  return AffineMap::get(loops.getDims().size(), 0, exprs, b.getContext());
}

Value KernelWriter::writeMap(RankedTensorType type, ValueRange operands,
                             ArrayRef<AffineMap> maps, Body body) {
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(type.getRank()));
  Value out =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(type), operands, ValueRange(out), all, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder nested(loc, inner);
        linalg::YieldOp::create(nested, body(nested, args.drop_back()));
      });
  return generic.getResult(0);
}

Value KernelWriter::writeElementwise(Operation *op) {
  auto type = typeOf(op->getResult(0));
  SmallVector<Value> operands;
  SmallVector<TypedAttr> splats;
  for (Value operand : op->getOperands()) {
    splats.push_back(getSplat(operand));
    if (!splats.back())
      operands.push_back(lookup(operand));
  }
  SmallVector<AffineMap> maps(operands.size(),
                              b.getMultiDimIdentityMap(type.getRank()));
  return writeMap(
      type, operands, maps, [&](ImplicitLocOpBuilder &nested, ValueRange args) {
        SmallVector<Value> elements;
        auto arg = args.begin();
        for (TypedAttr splat : splats)
          elements.push_back(
              splat ? arith::ConstantOp::create(nested, splat).getResult()
                    : *arg++);
        return buildScalarBody(nested, op, elements);
      });
}

Value KernelWriter::writeRepeat(nn::RepeatOp op) {
  AffineMap map =
      getMap(op.getPattern().getOperands()[0], op.getPattern().getResult());
  if (TypedAttr splat = getSplat(op.getInput()))
    return writeMap(typeOf(op.getResult()), {}, {},
                    [&](ImplicitLocOpBuilder &nested, ValueRange) -> Value {
                      return arith::ConstantOp::create(nested, splat);
                    });
  return writeMap(
      typeOf(op.getResult()), lookup(op.getInput()), map,
      [&](ImplicitLocOpBuilder &, ValueRange args) { return args[0]; });
}

Value KernelWriter::writeReduce(nn::ReduceOp op) {
  auto type = typeOf(op.getResult());
  Type element = type.getElementType();
  nn::TermAttr input = op.getPattern().getOperands()[0];
  nn::TermAttr result = op.getPattern().getResult();
  SmallVector<utils::IteratorType> iterators;
  for (ArrayAttr dim : input.getDims())
    iterators.push_back(!dim.empty() &&
                                llvm::is_contained(result.getDims(), dim)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  bool isSum = op.getKind() == nn::ReduceKind::Sum;
  double inf = std::numeric_limits<double>::infinity();
  double neutral =
      isSum ? 0.0 : (op.getKind() == nn::ReduceKind::Max ? -inf : inf);
  Value start = arith::ConstantOp::create(b, b.getFloatAttr(element, neutral));
  Value empty = tensor::EmptyOp::create(b, type.getShape(), element);
  Value filled = linalg::FillOp::create(b, ValueRange(start), ValueRange(empty))
                     .getResult(0);
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(iterators.size()),
                              getMap(result, input)};
  auto generic = linalg::GenericOp::create(
      b, TypeRange(type), ValueRange(lookup(op.getInput())), ValueRange(filled),
      maps, iterators, [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value joined;
        if (isSum)
          joined = arith::AddFOp::create(inner, loc, args[0], args[1]);
        else if (op.getKind() == nn::ReduceKind::Max)
          joined = arith::MaximumFOp::create(inner, loc, args[0], args[1]);
        else
          joined = arith::MinimumFOp::create(inner, loc, args[0], args[1]);
        linalg::YieldOp::create(inner, loc, joined);
      });
  return generic.getResult(0);
}

/// Sums of products that no GEMM computes.
Value KernelWriter::writeEinsum(nn::EinsumOp op) {
  nn::TermAttr result = op.getPattern().getResult();
  SmallVector<StringRef> names = result.getNames();
  SmallVector<utils::IteratorType> iterators(names.size(),
                                             utils::IteratorType::parallel);
  for (nn::TermAttr term : op.getPattern().getOperands())
    for (StringRef name : term.getNames())
      if (!llvm::is_contained(names, name)) {
        names.push_back(name);
        iterators.push_back(utils::IteratorType::reduction);
      }
  auto mapOf = [&](nn::TermAttr term) {
    SmallVector<AffineExpr> exprs;
    for (ArrayAttr dim : term.getDims()) {
      if (dim.empty()) {
        exprs.push_back(b.getAffineConstantExpr(0));
        continue;
      }
      StringRef name = cast<StringAttr>(dim[0]).getValue();
      exprs.push_back(
          b.getAffineDimExpr(llvm::find(names, name) - names.begin()));
    }
    return AffineMap::get(names.size(), 0, exprs, b.getContext());
  };
  auto type = typeOf(op.getResult());
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  for (auto [input, term] :
       llvm::zip_equal(op.getInputs(), op.getPattern().getOperands())) {
    operands.push_back(lookup(input));
    maps.push_back(mapOf(term));
  }
  auto product = [&](ImplicitLocOpBuilder &nested, ValueRange args) {
    Value value = args.front();
    for (Value factor : args.drop_front())
      value = arith::MulFOp::create(nested, value, factor);
    return value;
  };
  if (!llvm::is_contained(iterators, utils::IteratorType::reduction))
    return writeMap(type, operands, maps, product);
  return writeSum(type, operands, maps, mapOf(result), iterators, product);
}

Value KernelWriter::writeSum(RankedTensorType type, ValueRange operands,
                             ArrayRef<AffineMap> maps, AffineMap resultMap,
                             ArrayRef<utils::IteratorType> iterators,
                             Body term) {
  Type element = type.getElementType();
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0));
  Value empty = tensor::EmptyOp::create(b, type.getShape(), element);
  Value filled = linalg::FillOp::create(b, ValueRange(zero), ValueRange(empty))
                     .getResult(0);
  SmallVector<AffineMap> all(maps);
  all.push_back(resultMap);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(type), operands, ValueRange(filled), all, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder nested(loc, inner);
        Value sum = arith::AddFOp::create(
            nested, term(nested, args.drop_back()), args.back());
        linalg::YieldOp::create(nested, sum);
      });
  return generic.getResult(0);
}

void KernelWriter::populateStructural(OpLowerings &lowerings) {
  lowerings.addKernel(&KernelWriter::writeRepeat);
  lowerings.addKernel(&KernelWriter::writeReduce).fits = [](Operation *op) {
    return cast<nn::ReduceOp>(op).getKind() != nn::ReduceKind::Mean;
  };
  lowerings.addKernel(&KernelWriter::writeEinsum).fits = [](Operation *op) {
    return !isProduct(cast<nn::EinsumOp>(op));
  };
}

void dist::populateStructuralLowerings(OpLowerings &lowerings) {
  KernelWriter::populateStructural(lowerings);
}

void KernelWriter::writeOp(Operation *op) {
  b.setLoc(op->getLoc());
  const OpLowering *lowering = OpLowerings::get().lookup(op);
  bool isElementwise = !lowering || !lowering->write;
  tensors[op->getResult(0)] =
      isElementwise ? writeElementwise(op) : lowering->write(*this, op);
}

std::optional<unsigned> KernelWriter::getReplaced(Value output) const {
  for (auto [index, input] : llvm::enumerate(inputs))
    if (segment.getView(input) == segment.getView(output))
      return index;
  return std::nullopt;
}

void KernelWriter::createKernel(TypeRange types) {
  b.setInsertionPointToEnd(segment.getPool().getModule().getBody());
  kernel =
      func::FuncOp::create(b, b.getLoc(), "k", b.getFunctionType(types, {}));
  kernel->setAttr("dist.kernel", b.getUnitAttr());
  kernel.setPrivate();
  b.setInsertionPointToStart(kernel.addEntryBlock());
}

func::FuncOp KernelWriter::write() {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types{LLVM::LLVMPointerType::get(b.getContext())};
  for (Value input : inputs)
    types.push_back(getMemrefType(segment.getView(input), typeOf(input)));
  for (Value output : outputs)
    if (!getReplaced(output))
      types.push_back(getMemrefType(segment.getView(output), typeOf(output)));
  createKernel(types);
  Block *block = &kernel.front();
  // A copy: positions of the device become further arguments.
  SmallVector<BlockArgument> args(block->getArguments().drop_front());
  for (auto [input, buffer] : llvm::zip(inputs, args))
    tensors[input] = bufferization::ToTensorOp::create(b, typeOf(input), buffer,
                                                       /*restrict=*/true);
  for (Operation *op : ops)
    writeOp(op);
  ArrayRef<BlockArgument> own = ArrayRef(args).drop_front(inputs.size());
  for (Value output : outputs) {
    std::optional<unsigned> replaced = getReplaced(output);
    Value buffer = replaced ? args[*replaced] : own.consume_front();
    bufferization::MaterializeInDestinationOp::create(
        b, Type(), tensors[output], buffer, /*restrict=*/true,
        /*writable=*/true);
  }
  func::ReturnOp::create(b);
  kernel.setType(b.getFunctionType(block->getArgumentTypes(), {}));
  return kernel;
}
