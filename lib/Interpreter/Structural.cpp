//===- Structural.cpp - Evaluates the ops with a pattern ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedDims.h"
#include "dist/Interpreter/Evaluation.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dist;
using namespace dist::interp;

NamedDims::NamedDims(nn::TermAttr term, const nn::NameSizes &sizes) {
  for (StringRef name : term.getNames())
    append(name, sizes.lookup(name));
}

std::vector<int64_t> NamedDims::getOffsetsIn(const NamedDims &order) const {
  Shape strides = getStrides(shape), ordered;
  for (StringRef name : order.names) {
    const StringRef *it = llvm::find(names, name);
    ordered.push_back(it == names.end() ? 0 : strides[it - names.begin()]);
  }
  return getOffsets(order.shape, ordered);
}

//===----------------------------------------------------------------------===//
// Rearrange, repeat
//===----------------------------------------------------------------------===//

template <typename OpTy>
static FailureOr<nn::NameSizes> inferSizes(OpTy op) {
  return nn::inferNameSizes(op, op.getPattern(), op->getOperandTypes(),
                            op->getResultTypes());
}

template <typename OpTy>
static Results evaluateMove(OpTy op, const Evaluation &at) {
  FailureOr<nn::NameSizes> sizes = inferSizes(op);
  if (failed(sizes))
    return failure();
  NamedDims from(op.getPattern().getOperands().front(), *sizes);
  NamedDims to(op.getPattern().getResult(), *sizes);
  return at.operands[0].pick(op.getType().getShape(), from.getOffsetsIn(to));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// A factor of a product: numbers in double, of the accumulator's precision.
struct Multiplicand {
  NamedDims dims;
  std::vector<double> values;

  /// The values in the order of `order`, which has the same names.
  std::vector<double> permute(const NamedDims &order) const {
    std::vector<int64_t> offsets = dims.getOffsetsIn(order);
    std::vector<double> permuted(offsets.size());
    for (size_t i = 0; i < offsets.size(); ++i)
      permuted[i] = values[offsets[i]];
    return permuted;
  }
};

/// The names of a product of two factors by what becomes of them.
struct ProductDims {
  NamedDims batch, lhs, rhs, summed;
};
} // namespace

/// `dims` of one list after those of another.
static NamedDims operator+(NamedDims a, const NamedDims &b) {
  a.names.append(b.names);
  a.shape.append(b.shape);
  return a;
}

/// `c[m, n] += Σ_k a[m, k]·b[k, n]`, each addition rounded to `Acc`.
template <typename Acc>
static void multiply(const double *a, const double *b, double *c, int64_t m,
                     int64_t n, int64_t k) {
  std::vector<Acc> row(n);
  for (int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), Acc(0));
    for (int64_t j = 0; j < k; ++j) {
      double x = a[i * k + j];
      const double *y = b + j * n;
      for (int64_t l = 0; l < n; ++l)
        row[l] = static_cast<Acc>(static_cast<double>(row[l]) + x * y[l]);
    }
    std::copy(row.begin(), row.end(), c + i * n);
  }
}

/// Sums the names of `factor` that `isKept` refuses.
static Multiplicand sumOut(const Multiplicand &factor, bool inDouble,
                           llvm::function_ref<bool(StringRef)> isKept) {
  NamedDims kept, gone;
  for (auto [name, size] :
       llvm::zip_equal(factor.dims.names, factor.dims.shape))
    (isKept(name) ? kept : gone).append(name, size);
  if (gone.names.empty())
    return factor;
  int64_t m = getNumElements(kept.shape), k = getNumElements(gone.shape);
  std::vector<double> values = factor.permute(kept + gone), ones(k, 1.0);
  Multiplicand result{kept, std::vector<double>(m)};
  (inDouble ? multiply<double> : multiply<float>)(values.data(), ones.data(),
                                                  result.values.data(), m, 1,
                                                  k);
  return result;
}

static ProductDims classify(const Multiplicand &a, const Multiplicand &b,
                            llvm::function_ref<bool(StringRef)> isKept) {
  ProductDims dims;
  for (auto [name, size] : llvm::zip_equal(a.dims.names, a.dims.shape)) {
    if (!b.dims.contains(name))
      dims.lhs.append(name, size);
    else
      (isKept(name) ? dims.batch : dims.summed).append(name, size);
  }
  for (auto [name, size] : llvm::zip_equal(b.dims.names, b.dims.shape))
    if (!a.dims.contains(name))
      dims.rhs.append(name, size);
  return dims;
}

/// The product of two factors, summed over the names that are not kept.
static Multiplicand contract(Multiplicand a, Multiplicand b, bool inDouble,
                             llvm::function_ref<bool(StringRef)> isKept) {
  a = sumOut(a, inDouble,
             [&](StringRef n) { return isKept(n) || b.dims.contains(n); });
  b = sumOut(b, inDouble,
             [&](StringRef n) { return isKept(n) || a.dims.contains(n); });
  ProductDims dims = classify(a, b, isKept);
  std::vector<double> lhs = a.permute(dims.batch + dims.lhs + dims.summed);
  std::vector<double> rhs = b.permute(dims.batch + dims.summed + dims.rhs);
  int64_t m = getNumElements(dims.lhs.shape);
  int64_t n = getNumElements(dims.rhs.shape);
  int64_t k = getNumElements(dims.summed.shape);
  int64_t batch = getNumElements(dims.batch.shape);
  Multiplicand result{dims.batch + dims.lhs + dims.rhs,
                      std::vector<double>(batch * m * n)};
  for (int64_t i = 0; i < batch; ++i)
    (inDouble ? multiply<double>
              : multiply<float>)(lhs.data() + i * m * k, rhs.data() + i * k * n,
                                 result.values.data() + i * m * n, m, n, k);
  return result;
}

static Results evaluateEinsum(nn::EinsumOp op, const Evaluation &at) {
  FailureOr<nn::NameSizes> sizes = inferSizes(op);
  if (failed(sizes))
    return failure();
  bool inDouble = at.getKind(op.getType()) == ElementKind::F64;
  ArrayRef<nn::TermAttr> terms = op.getPattern().getOperands();
  nn::TermAttr resultTerm = op.getPattern().getResult();
  Multiplicand product;
  for (auto [index, term] : llvm::enumerate(terms)) {
    Multiplicand factor{NamedDims(term, *sizes),
                        std::vector<double>(at.operands[index].floats())};
    ArrayRef<nn::TermAttr> later = terms.drop_front(index + 1);
    auto isKept = [&](StringRef name) {
      return resultTerm.hasName(name) ||
             llvm::any_of(later, [&](auto t) { return t.hasName(name); });
    };
    product = index == 0 ? sumOut(factor, inDouble,
                                  [&](StringRef name) { return isKept(name); })
                         : contract(product, factor, inDouble, isKept);
  }
  return at.makeResult(product.permute(NamedDims(resultTerm, *sizes)));
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// Sums in member order, each addition rounded to `accumulator`.
static double sum(ArrayRef<double> values, ElementKind accumulator) {
  double total = 0;
  for (double value : values)
    total = roundTo(accumulator, total + value);
  return total;
}

/// The largest value times `sign`; NaN if one is.
static double largest(ArrayRef<double> values, double sign) {
  double found = -std::numeric_limits<double>::infinity();
  for (double value : values) {
    if (std::isnan(value))
      return value;
    found = std::max(found, sign * value);
  }
  return sign * found;
}

static double reduceFloats(nn::ReduceKind kind, ArrayRef<double> values,
                           ElementKind accumulator) {
  switch (kind) {
  case nn::ReduceKind::Sum:
    return sum(values, accumulator);
  case nn::ReduceKind::Mean:
    return sum(values, accumulator) / double(values.size());
  case nn::ReduceKind::Max:
    return largest(values, 1);
  case nn::ReduceKind::Min:
    return largest(values, -1);
  }
  llvm_unreachable("all kinds are handled");
}

static int64_t reduceInts(nn::ReduceKind kind, ArrayRef<int64_t> values) {
  uint64_t total = 0;
  for (int64_t value : values)
    total += static_cast<uint64_t>(value);
  switch (kind) {
  case nn::ReduceKind::Sum:
    return static_cast<int64_t>(total);
  case nn::ReduceKind::Mean:
    return values.empty()
               ? 0
               : static_cast<int64_t>(total) / int64_t(values.size());
  case nn::ReduceKind::Max:
    return values.empty() ? std::numeric_limits<int64_t>::min()
                          : *llvm::max_element(values);
  case nn::ReduceKind::Min:
    return values.empty() ? std::numeric_limits<int64_t>::max()
                          : *llvm::min_element(values);
  }
  llvm_unreachable("all kinds are handled");
}

static Results evaluateReduce(nn::ReduceOp op, const Evaluation &at) {
  FailureOr<nn::NameSizes> sizes = inferSizes(op);
  if (failed(sizes))
    return failure();
  NamedDims from(op.getPattern().getOperands().front(), *sizes);
  NamedDims kept(op.getPattern().getResult(), *sizes), gone;
  for (auto [name, size] : llvm::zip_equal(from.names, from.shape))
    if (!kept.contains(name))
      gone.append(name, size);
  int64_t m = getNumElements(kept.shape), n = getNumElements(gone.shape);
  Tensor lines = at.operands[0].pick({m, n}, from.getOffsetsIn(kept + gone));
  if (!lines.isFloat()) {
    std::vector<int64_t> values(m);
    for (int64_t i = 0; i < m; ++i)
      values[i] = reduceInts(op.getKind(), lines.ints().slice(i * n, n));
    return at.makeResult(std::move(values));
  }
  std::vector<double> values(m);
  ElementKind accumulator = getAccumulator(lines.getKind());
  for (int64_t i = 0; i < m; ++i)
    values[i] =
        reduceFloats(op.getKind(), lines.floats().slice(i * n, n), accumulator);
  return at.makeResult(std::move(values));
}

void dist::interp::populateStructuralEvaluators(EvaluatorRegistry &registry) {
  registry.add<nn::EinsumOp>(evaluateEinsum);
  registry.add<nn::RearrangeOp>(evaluateMove<nn::RearrangeOp>);
  registry.add<nn::RepeatOp>(evaluateMove<nn::RepeatOp>);
  registry.add<nn::ReduceOp>(evaluateReduce);
}
