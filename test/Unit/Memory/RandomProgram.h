//===- RandomProgram.h - Steps made of random calls -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TEST_UNIT_MEMORY_RANDOMPROGRAM_H
#define DIST_TEST_UNIT_MEMORY_RANDOMPROGRAM_H

#include <random>
#include <string>
#include <vector>

/// Writes a module of the phase *runtime*: `@step` and `@loss` call segments
/// with random operands, results, pairs in place and workspaces; updated
/// parameters, gradients and the loss are any values of their type, arguments
/// of the step included.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string write();

private:
  struct Value {
    std::string name;
    int size;
  };

  int pick(int below) { return static_cast<int>(random() % below); }
  const Value &pickOf(int size);
  void writeCall();
  std::string writeEntry(const char *name, bool isStep);
  static std::string typeOf(int size);

  std::mt19937 random;
  std::vector<Value> values;
  std::string calls, segments;
  int numSegments = 0;
};

#endif // DIST_TEST_UNIT_MEMORY_RANDOMPROGRAM_H
