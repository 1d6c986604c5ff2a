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
/// of the step included. What is computed in place of a parameter is its new
/// value; what is replaced is read no more.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string write();

private:
  struct Value {
    std::string name;
    int size;
    int param = -1;         ///< the parameter that it is the old value of
    bool mayBeTaken = true; ///< another value may be computed in its place
  };

  int pick(int below) { return static_cast<int>(random() % below); }
  const Value &pickOf(int size);
  const Value *pickReplaced(const std::vector<Value> &operands, int size,
                            bool isStep);
  void writeCall(bool isStep);
  std::string writeEntry(const char *name, bool isStep);
  static std::string typeOf(int size);

  std::mt19937 random;
  std::vector<Value> values;
  std::vector<std::string> updated; ///< by parameter, if in place
  std::string calls, segments;
  int numSegments = 0;
};

#endif // DIST_TEST_UNIT_MEMORY_RANDOMPROGRAM_H
