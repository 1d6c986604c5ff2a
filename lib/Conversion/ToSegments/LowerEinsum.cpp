//===- LowerEinsum.cpp - Products as calls of the GEMM library ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupKernel.h"
#include "LowerOps.h"
#include "OpLowerings.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dist;

namespace {
using Names = SmallVector<StringRef, 4>;

/// A tensor of an einsum: what it is named by and where it lies.
struct Operand {
  nn::TermAttr term;
  View view;

  std::optional<int64_t> getStride(StringRef name) const {
    for (auto [dim, stride] : llvm::zip_equal(term.getDims(), view.strides))
      if (dim.size() == 1 && cast<StringAttr>(dim[0]).getValue() == name)
        return stride;
    return std::nullopt;
  }

  /// The stride of `names` walked as one dimension, if they lie that way.
  std::optional<int64_t> getStride(ArrayRef<StringRef> names,
                                   const nn::NameSizes &sizes) const {
    std::optional<int64_t> inner, expected;
    for (StringRef name : llvm::reverse(names)) {
      int64_t size = sizes.lookup(name);
      if (size == 1)
        continue;
      int64_t stride = *getStride(name);
      if (!inner)
        inner = stride;
      else if (stride != *expected)
        return std::nullopt;
      expected = stride * size;
    }
    return inner.value_or(1);
  }
};

/// An einsum of two operands as `c[batch, m, n] = Σ_k a[batch, m, k] b[…]`.
class Product {
public:
  Product(SegmentBuilder &b, nn::EinsumOp op, nn::NameSizes sizes);

  LogicalResult lower();

private:
  void classify();
  SmallVector<int64_t> chooseOrder(RankedTensorType type);
  LogicalResult makeFit(Operand &operand, Value value, ArrayRef<Names> groups);
  static bool isUnit(int64_t row, int64_t column) {
    return row == 1 || column == 1;
  }
  int64_t getSize(ArrayRef<StringRef> names) const {
    int64_t size = 1;
    for (StringRef name : names)
      size *= sizes.lookup(name);
    return size;
  }

  SegmentBuilder &b;
  nn::EinsumOp op;
  nn::NameSizes sizes;
  Operand lhs, rhs, out;
  Names batch, m, n, k;
};
} // namespace

Product::Product(SegmentBuilder &b, nn::EinsumOp op, nn::NameSizes sizes)
    : b(b), op(op), sizes(std::move(sizes)) {
  lhs = {op.getPattern().getOperands()[0], b.getView(op.getInputs()[0])};
  rhs = {op.getPattern().getOperands()[1], b.getView(op.getInputs()[1])};
  out.term = op.getPattern().getResult();
  classify();
}

/// Names in the order of the result, summed ones in that of the left operand.
void Product::classify() {
  for (StringRef name : out.term.getNames()) {
    bool inLhs = lhs.term.hasName(name), inRhs = rhs.term.hasName(name);
    (inLhs && inRhs ? batch : inLhs ? m : n).push_back(name);
  }
  for (StringRef name : lhs.term.getNames())
    if (!out.term.hasName(name))
      k.push_back(name);
}

/// Copies `operand` into a buffer where each of `groups` is one dimension, if
/// it does not lie that way already.
LogicalResult Product::makeFit(Operand &operand, Value value,
                               ArrayRef<Names> groups) {
  bool fits = llvm::all_of(groups, [&](const Names &names) {
    return operand.getStride(names, sizes).has_value();
  });
  int64_t row = fits ? *operand.getStride(groups[1], sizes) : 0;
  int64_t column = fits ? *operand.getStride(groups[2], sizes) : 0;
  if (fits && isUnit(row, column))
    return success();
  SmallVector<int64_t> order;
  for (const Names &names : groups)
    for (StringRef name : names)
      for (auto [dim, group] : llvm::enumerate(operand.term.getDims()))
        if (group.size() == 1 && cast<StringAttr>(group[0]).getValue() == name)
          order.push_back(dim);
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) // units
    if (!llvm::is_contained(order, dim))
      order.insert(order.begin(), dim);
  View copy = b.allocateTemporary(type);
  copy.strides = getStrides(type.getShape(), order);
  if (failed(lowerCopy(b, type, operand.view, copy)))
    return failure();
  operand.view = copy;
  return success();
}

/// The words of a dist_gemm_desc behind its type, as the benchmark reads them.
static std::string describe(ArrayRef<int64_t> words) {
  std::string text = words[0] == 0 ? "f64" : "f32";
  for (int64_t word : words.drop_front())
    text += " " + std::to_string(word);
  return text;
}

/// The layout as the type has it where that is a matrix; else batch, m, n: a
/// later copy puts the elements where they belong.
SmallVector<int64_t> Product::chooseOrder(RankedTensorType type) {
  out.view.strides = getStrides(type.getShape());
  bool fits = llvm::all_of(ArrayRef{&batch, &m, &n}, [&](const Names *names) {
    return out.getStride(*names, sizes).has_value();
  });
  if (fits && isUnit(*out.getStride(m, sizes), *out.getStride(n, sizes)))
    return {};
  SmallVector<int64_t> order;
  for (const Names *names : {&batch, &m, &n})
    for (StringRef name : *names)
      for (auto [dim, group] : llvm::enumerate(out.term.getDims()))
        if (group.size() == 1 && cast<StringAttr>(group[0]).getValue() == name)
          order.push_back(dim);
  SmallVector<int64_t> units;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(order, dim))
      units.push_back(dim);
  order.insert(order.begin(), units.begin(), units.end());
  return order;
}

LogicalResult Product::lower() {
  Value result = op.getResult();
  if (failed(makeFit(lhs, op.getInputs()[0], {batch, m, k})) ||
      failed(makeFit(rhs, op.getInputs()[1], {batch, k, n})))
    return failure();
  out.view =
      b.allocate(result, chooseOrder(cast<RankedTensorType>(result.getType())));

  bool isDouble = getElementTypeOrSelf(result).isF64();
  auto stride = [&](const Operand &operand, const Names &names) {
    return *operand.getStride(names, sizes);
  };
  // A dimension of one element may have any stride: pretend it is the row.
  auto matrix = [&](const Operand &operand, const Names &rows,
                    const Names &columns) -> std::pair<int64_t, int64_t> {
    int64_t row = stride(operand, rows), column = stride(operand, columns);
    if (getSize(columns) == 1 && row != 1)
      column = 1;
    if (getSize(rows) == 1 && column != 1)
      row = 1;
    if (getSize(rows) == 1 && column == 1)
      row = getSize(columns);
    if (getSize(columns) == 1 && row == 1)
      column = std::max<int64_t>(getSize(rows), 1);
    return {row, column};
  };
  auto [aRow, aColumn] = matrix(lhs, m, k);
  auto [bRow, bColumn] = matrix(rhs, k, n);
  auto [cRow, cColumn] = matrix(out, m, n);
  int64_t words[] = {
      isDouble ? 0 : 1, // dtype, then accumulate = 0 in the upper half
      getSize(batch),   getSize(m),         getSize(n),
      getSize(k),       stride(lhs, batch), aRow,
      aColumn,          stride(rhs, batch), bRow,
      bColumn,          stride(out, batch), cRow,
      cColumn};
  b.mark("gemm", describe(words));
  Value desc = b.addressOf(b.getPool().internWords(words));
  auto pointer = [&](const Operand &operand, Value value) {
    return b.getPointer(operand.view, cast<RankedTensorType>(value.getType()));
  };
  b.callRuntime("dist_gemm",
                {b.getRank(), desc, pointer(lhs, op.getInputs()[0]),
                 pointer(rhs, op.getInputs()[1]), pointer(out, result)});
  b.nextUnit();
  return success();
}

bool dist::isProduct(nn::EinsumOp op) {
  ArrayRef<nn::TermAttr> terms = op.getPattern().getOperands();
  nn::TermAttr result = op.getPattern().getResult();
  Type element = getElementTypeOrSelf(op.getResult());
  if (terms.size() != 2 || !(element.isF32() || element.isF64()))
    return false;
  auto isSummedAlone = [&](nn::TermAttr term, nn::TermAttr other) {
    return llvm::any_of(term.getNames(), [&](StringRef name) {
      return !other.hasName(name) && !result.hasName(name);
    });
  };
  auto hasGroups = [](nn::TermAttr term) {
    return llvm::any_of(term.getDims(),
                        [](ArrayAttr dim) { return dim.size() > 1; });
  };
  return !isSummedAlone(terms[0], terms[1]) &&
         !isSummedAlone(terms[1], terms[0]) && !hasGroups(terms[0]) &&
         !hasGroups(terms[1]) && !hasGroups(result);
}

static LogicalResult lowerEinsum(SegmentBuilder &b, nn::EinsumOp op) {
  auto sizes = nn::inferNameSizes(
      op, op.getPattern(), op.getInputs().getTypes(), op.getResult().getType());
  if (failed(sizes))
    return failure();
  return Product(b, op, std::move(*sizes)).lower();
}

void dist::populateEinsumLowerings(OpLowerings &lowerings) {
  lowerings.addCall(lowerEinsum);
}
