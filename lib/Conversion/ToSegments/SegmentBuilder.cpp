//===- SegmentBuilder.cpp - Buffers and calls of one segment --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SegmentBuilder.h"
#include "ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dist;

/// Buffers start at multiples of a cache line.
static constexpr int64_t kAlignment = 64;

SmallVector<int64_t, 5> dist::getStrides(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> order) {
  SmallVector<int64_t, 5> strides(shape.size());
  int64_t stride = 1;
  for (int64_t i = shape.size(); i-- > 0;) {
    int64_t dim = order.empty() ? i : order[i];
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

bool dist::isContiguous(const View &view, RankedTensorType type) {
  SmallVector<int64_t, 5> dense = getStrides(type.getShape());
  for (auto [size, stride, want] :
       llvm::zip_equal(type.getShape(), view.strides, dense))
    if (size != 1 && stride != want)
      return false;
  return true;
}

/// The strides of `view`; those of a dimension of size 1, which may be any, are
/// as in a contiguous tensor where that is one.
static SmallVector<int64_t, 5> getPlainStrides(const View &view,
                                               RankedTensorType type) {
  return isContiguous(view, type) ? dist::getStrides(type.getShape())
                                  : view.strides;
}

MemRefType dist::getMemrefType(const View &view, RankedTensorType type) {
  if (view.offset == 0 && isContiguous(view, type))
    return MemRefType::get(type.getShape(), type.getElementType());
  auto layout = StridedLayoutAttr::get(type.getContext(), view.offset,
                                       getPlainStrides(view, type));
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

static int64_t getBytes(Type element, int64_t count) {
  return count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// ProgramPool
//===----------------------------------------------------------------------===//

func::FuncOp ProgramPool::intern(func::FuncOp kernel) {
  kernel.setName("k");
  std::string text;
  llvm::raw_string_ostream os(text);
  // In its own scope: else every print numbers the values of the whole module.
  kernel->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
  func::FuncOp &slot = kernels[text];
  if (slot) {
    kernel.erase();
    return slot;
  }
  kernel.setName("kernel_" + std::to_string(kernels.size() - 1));
  slot = kernel;
  return kernel;
}

LLVM::GlobalOp ProgramPool::internWords(ArrayRef<int64_t> words) {
  std::string key = "w";
  for (int64_t word : words)
    key += "," + std::to_string(word);
  LLVM::GlobalOp &slot = globals[key];
  if (slot)
    return slot;
  auto b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI64Type(), words.size());
  auto value = DenseElementsAttr::get(
      RankedTensorType::get({int64_t(words.size())}, b.getI64Type()), words);
  slot = LLVM::GlobalOp::create(
      b, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
      "words_" + std::to_string(globals.size()), value, /*alignment=*/8);
  return slot;
}

LLVM::GlobalOp ProgramPool::internText(StringRef text) {
  LLVM::GlobalOp &slot = globals[("t" + text).str()];
  if (slot)
    return slot;
  auto b = OpBuilder::atBlockBegin(module.getBody());
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  slot = LLVM::GlobalOp::create(
      b, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
      "text_" + std::to_string(globals.size()), b.getStringAttr(bytes));
  return slot;
}

LLVM::LLVMFuncOp ProgramPool::declare(StringRef name, Type result,
                                      TypeRange arguments) {
  if (auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return func;
  auto b = OpBuilder::atBlockBegin(module.getBody());
  if (!result)
    result = LLVM::LLVMVoidType::get(b.getContext());
  return LLVM::LLVMFuncOp::create(
      b, module.getLoc(), name,
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments)));
}

int64_t ProgramPool::getCommunicator(AxesAttr axes) {
  auto *it = llvm::find(communicators, axes);
  if (it == communicators.end()) {
    communicators.push_back(axes);
    return communicators.size() - 1;
  }
  return it - communicators.begin();
}

//===----------------------------------------------------------------------===//
// SegmentBuilder
//===----------------------------------------------------------------------===//

SegmentBuilder::SegmentBuilder(func::FuncOp segment, ProgramPool &pool,
                               ArrayRef<int64_t> replaced)
    : ImplicitLocOpBuilder(segment.getLoc(), segment.getContext()), pool(pool),
      segment(segment), replaced(replaced) {
  SmallVector<Type> types{LLVM::LLVMPointerType::get(getContext())};
  auto add = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    types.push_back(
        MemRefType::get(tensor.getShape(), tensor.getElementType()));
  };
  llvm::for_each(segment.getArgumentTypes(), add);
  llvm::for_each(segment.getResultTypes(), add);
  types.push_back(MemRefType::get({0}, getI8Type()));
  setInsertionPointAfter(segment);
  body = func::FuncOp::create(*this, (segment.getName() + "_body").str(),
                              getFunctionType(types, {}));
  body->setAttr("dist.segment", getStringAttr(segment.getName()));
  Block *block = body.addEntryBlock();
  rank = block->getArgument(0);
  workspace = block->getArguments().back();
  setInsertionPointToStart(block);

  auto args = block->getArguments().drop_front().drop_back();
  for (auto [value, buffer] : llvm::zip(segment.getArguments(), args))
    views[value] = {
        buffer, 0,
        dist::getStrides(cast<RankedTensorType>(value.getType()).getShape())};
  Operation *ret = segment.getBody().front().getTerminator();
  for (auto [index, value, buffer] : llvm::enumerate(
           ret->getOperands(), args.drop_front(segment.getNumArguments()))) {
    resultOf.try_emplace(value, index);
    resultViews.push_back(
        {buffer, 0,
         dist::getStrides(cast<RankedTensorType>(value.getType()).getShape())});
  }
}

const View &SegmentBuilder::allocate(Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  View view;
  auto it = resultOf.find(value);
  if (it == resultOf.end() || !(order.empty() || llvm::is_sorted(order)))
    view = allocateTemporary(type);
  else if (replaceArgument(value, {}))
    return getView(value);
  else
    view = resultViews[it->second];
  view.strides = dist::getStrides(type.getShape(), order);
  return views[value] = view;
}

/// Whether an op that is not lowered yet reads the memory of `value`, those of
/// `kernel` aside that read it element by element.
bool SegmentBuilder::isReadLater(Value value,
                                 ArrayRef<Operation *> kernel) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (llvm::is_contained(kernel, user))
      return !hasScalarBody(user);
    if (!lowered.contains(user))
      return true;
    return llvm::any_of(user->getResults(), [&](Value result) {
      return hasView(result) && getView(result).root == getView(value).root &&
             isReadLater(result, {});
    });
  });
}

bool SegmentBuilder::replaceArgument(Value value,
                                     ArrayRef<Operation *> kernel) {
  auto it = resultOf.find(value);
  if (it == resultOf.end() || replaced[it->second] < 0)
    return false;
  Value argument = segment.getArgument(replaced[it->second]);
  if (isReadLater(argument, kernel))
    return false;
  views[value] = resultViews[it->second] = getView(argument);
  return true;
}

void SegmentBuilder::leaveArgument(Value value) {
  unsigned index = resultOf.lookup(value);
  replaced[index] = -1;
  resultViews[index].root =
      body.getArgument(1 + segment.getNumArguments() + index);
  views[value] = resultViews[index];
}

/// Tells the memory plan which results lie where an argument lay.
void SegmentBuilder::markInPlace() {
  SmallVector<int64_t> pairs;
  for (auto [index, argument] : llvm::enumerate(replaced))
    if (argument >= 0 &&
        resultViews[index].root == getView(segment.getArgument(argument)).root)
      pairs.append({int64_t(index), argument});
  if (!pairs.empty())
    body->setAttr(kInPlaceAttrName, getDenseI64ArrayAttr(pairs));
}

std::optional<View> SegmentBuilder::lookupResult(Value value) const {
  auto it = resultOf.find(value);
  if (it == resultOf.end())
    return std::nullopt;
  return resultViews[it->second];
}

View SegmentBuilder::allocateTemporary(RankedTensorType type) {
  int64_t count = type.getNumElements();
  auto offset = arith::ConstantIndexOp::create(*this, 0);
  auto view = memref::ViewOp::create(
      *this, MemRefType::get({count}, type.getElementType()), workspace, offset,
      ValueRange());
  temporaryOf[view.getResult()] = temporaries.size();
  temporaries.push_back(
      {view, offset, getBytes(type.getElementType(), count), unit, unit});
  return {view.getResult(), 0, dist::getStrides(type.getShape())};
}

bool SegmentBuilder::ownsTemporary(Value value) const {
  const View &view = getView(value);
  auto it = temporaryOf.find(view.root);
  auto type = cast<RankedTensorType>(value.getType());
  return it != temporaryOf.end() && view.offset == 0 &&
         isContiguous(view, type) &&
         getBytes(type.getElementType(), type.getNumElements()) ==
             temporaries[it->second].bytes;
}

Value SegmentBuilder::getMemref(const View &view, RankedTensorType type) {
  if (auto it = temporaryOf.find(view.root); it != temporaryOf.end())
    temporaries[it->second].end = unit;
  MemRefType wanted = getMemrefType(view, type);
  if (view.root.getType() == wanted)
    return view.root;
  auto shape = llvm::map_to_vector(type.getShape(), [&](int64_t size) {
    return OpFoldResult(getIndexAttr(size));
  });
  auto strides =
      llvm::map_to_vector(getPlainStrides(view, type), [&](int64_t stride) {
        return OpFoldResult(getIndexAttr(stride));
      });
  return memref::ReinterpretCastOp::create(
      *this, wanted, view.root, OpFoldResult(getIndexAttr(view.offset)), shape,
      strides);
}

Value SegmentBuilder::getPointer(const View &view, RankedTensorType type) {
  if (auto it = temporaryOf.find(view.root); it != temporaryOf.end())
    temporaries[it->second].end = unit;
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(*this, view.root);
  Value word = arith::IndexCastOp::create(*this, getI64Type(), address);
  word = arith::AddIOp::create(
      *this, word, constantI64(getBytes(type.getElementType(), view.offset)));
  return LLVM::IntToPtrOp::create(
      *this, LLVM::LLVMPointerType::get(getContext()), word);
}

Value SegmentBuilder::getScratch(int64_t bytes) {
  View view = allocateTemporary(RankedTensorType::get({bytes}, getI8Type()));
  return view.root;
}

Value SegmentBuilder::constantI64(int64_t value) {
  return arith::ConstantIntOp::create(*this, value, 64);
}

Value SegmentBuilder::constantI32(int64_t value) {
  return arith::ConstantIntOp::create(*this, value, 32);
}

Value SegmentBuilder::addressOf(LLVM::GlobalOp global) {
  return LLVM::AddressOfOp::create(*this, global);
}

Value SegmentBuilder::callRuntime(StringRef name, ValueRange arguments,
                                  Type result) {
  LLVM::LLVMFuncOp callee = pool.declare(name, result, arguments.getTypes());
  auto call = LLVM::CallOp::create(*this, callee, arguments);
  return result ? call.getResult() : Value();
}

void SegmentBuilder::mark(StringRef kind, StringRef name) {
  callRuntime("dist_mark", {rank, addressOf(pool.internText(kind)),
                            addressOf(pool.internText(name))});
}

Value SegmentBuilder::getGroupIndex(ArrayRef<AxisAttr> axes) {
  MeshOp mesh = lookupMesh(pool.getModule());
  Value index = constantI64(0);
  for (AxisAttr axis : axes) {
    int64_t position = llvm::find(mesh.getAxes(), Attribute(axis.getName())) -
                       mesh.getAxes().begin();
    Value coordinate = callRuntime("dist_axis_index",
                                   {rank, constantI32(position)}, getI64Type());
    if (!axis.isWhole()) {
      int64_t minor =
          mesh.getShape()[position] / (axis.getPre() * axis.getSize());
      coordinate =
          arith::DivUIOp::create(*this, coordinate, constantI64(minor));
      coordinate = arith::RemUIOp::create(*this, coordinate,
                                          constantI64(axis.getSize()));
    }
    Value major = arith::MulIOp::create(*this, index,
                                        constantI64(mesh.getAxisSize(axis)));
    index = arith::AddIOp::create(*this, major, coordinate);
  }
  return index;
}

/// First fit by start: the lowest offset where no live buffer lies.
int64_t SegmentBuilder::place() {
  struct Placed {
    int64_t offset, end;
    unsigned lastUnit;
  };
  SmallVector<Placed> placed;
  int64_t total = 0;
  for (Temporary &temporary : temporaries) {
    int64_t offset = 0;
    int64_t bytes =
        llvm::alignTo(std::max<int64_t>(temporary.bytes, 1), kAlignment);
    llvm::erase_if(
        placed, [&](const Placed &p) { return p.lastUnit < temporary.begin; });
    llvm::sort(placed, [](const Placed &a, const Placed &b) {
      return a.offset < b.offset;
    });
    for (const Placed &p : placed)
      if (offset + bytes > p.offset && offset < p.end)
        offset = p.end;
    placed.push_back({offset, offset + bytes, temporary.end});
    temporary.offset.setValueAttr(getIndexAttr(offset));
    total = std::max(total, offset + bytes);
  }
  return total;
}

LogicalResult SegmentBuilder::finish(
    llvm::function_ref<LogicalResult(RankedTensorType, const View &,
                                     const View &)>
        copy) {
  Operation *ret = segment.getBody().front().getTerminator();
  for (auto [value, view] : llvm::zip_equal(ret->getOperands(), resultViews)) {
    nextUnit();
    const View source = getView(value);
    if (source.root != view.root &&
        failed(copy(cast<RankedTensorType>(value.getType()), source, view)))
      return failure();
  }
  func::ReturnOp::create(*this);
  markInPlace();
  auto type = MemRefType::get({place()}, getI8Type());
  workspace.setType(type);
  SmallVector<Type> types(body.getArgumentTypes());
  types.back() = type;
  body.setType(getFunctionType(types, {}));
  return success();
}
