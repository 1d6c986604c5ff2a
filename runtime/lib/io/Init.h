//===- Init.h - Initial values of parameters --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_INIT_H
#define DIST_RUNTIME_IO_INIT_H

#include "io/Philox.h"
#include "io/TensorBlock.h"

#include <string_view>

namespace dist::io {

/// What an `nn.init` says: "zeros", "ones", "normal STD" or "uniform LO HI".
/// An element is a function of (seed, name, global index) alone.
class Init {
public:
  /// An error says what the text is and which forms there are. STD is finite
  /// and not negative, LO and HI are finite and LO <= HI.
  static Expected<Init> parse(std::string_view text);

  /// The value, before rounding, of element `index` of parameter `name`.
  double getValue(std::string_view name, uint64_t seed, uint64_t index) const;

  /// Fills `block` of parameter `name`: the values are computed in f64, rounded
  /// once to `written` (the type in the model) and stored as `stored`. Both
  /// are float types; padding is left alone.
  void fill(std::string_view name, uint64_t seed, const TensorBlock &block,
            ElementType written, ElementType stored, void *local) const;

private:
  enum class Kind { Zeros, Ones, Normal, Uniform };

  Init(Kind kind, double first = 0, double second = 0)
      : kind(kind), first(first), second(second) {}

  double getValue(PhiloxKey key, uint64_t index) const;

  Kind kind;
  double first, second; ///< STD; LO and HI
};

} // namespace dist::io

#endif // DIST_RUNTIME_IO_INIT_H
