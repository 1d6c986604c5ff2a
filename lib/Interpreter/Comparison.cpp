//===- Comparison.cpp - How far results are apart -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Interpreter/Comparison.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace dist::interp;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static double getElement(const Tensor &tensor, int64_t i) {
  return tensor.isFloat() ? tensor.floats()[i]
                          : static_cast<double>(tensor.ints()[i]);
}

static double getLargest(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    largest = std::max(largest, std::fabs(getElement(tensor, i)));
  return largest;
}

/// max|a − b|, where equal infinities and two NaNs do not differ.
static double getDistance(const Tensor &a, const Tensor &b) {
  double largest = 0;
  for (int64_t i = 0; i < a.getNumElements(); ++i) {
    double x = getElement(a, i), y = getElement(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double distance = std::fabs(x - y);
    largest = std::max(largest, std::isnan(distance) ? kInfinity : distance);
  }
  return largest;
}

std::vector<Difference> dist::interp::compare(const NamedTensors &a,
                                              const NamedTensors &reference,
                                              double learningRate,
                                              int64_t numSteps) {
  double largestGradient = 0;
  for (const auto &[name, tensor] : reference)
    if (StringRef(name).starts_with("grad:"))
      largestGradient = std::max(largestGradient, getLargest(tensor));
  std::vector<Difference> differences;
  for (const auto &[name, b] : reference) {
    auto it = a.find(name);
    double error = kInfinity;
    if (it != a.end() && it->second.getShape() == b.getShape()) {
      double floor = 0;
      if (StringRef(name).starts_with("grad:"))
        floor = 1e-2 * largestGradient;
      else if (StringRef(name).starts_with("param:"))
        floor = learningRate * numSteps;
      double distance = getDistance(it->second, b);
      error = distance == 0 ? 0 : distance / std::max(getLargest(b), floor);
    }
    differences.push_back({name, error});
  }
  return differences;
}
