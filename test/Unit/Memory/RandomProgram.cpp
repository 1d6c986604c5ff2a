//===- RandomProgram.cpp - Steps made of random calls ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include <algorithm>

static constexpr int kSizes[] = {1, 7, 16, 100};
static constexpr int kNumParameters = 4;

static std::string list(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string RandomProgram::typeOf(int size) {
  return "<" + std::to_string(size) + "xf32>";
}

const RandomProgram::Value &RandomProgram::pickOf(int size) {
  std::vector<const Value *> fitting;
  for (const Value &value : values)
    if (value.size == size)
      fitting.push_back(&value);
  return *fitting[pick(static_cast<int>(fitting.size()))];
}

/// An operand in whose place a result of `size` may be computed, or null.
const RandomProgram::Value *
RandomProgram::pickReplaced(const std::vector<Value> &operands, int size,
                            bool isStep) {
  const Value &value = operands[pick(static_cast<int>(operands.size()))];
  auto isSame = [&](const Value &other) { return other.name == value.name; };
  bool isThere = std::any_of(values.begin(), values.end(), isSame);
  bool isOnce = std::count_if(operands.begin(), operands.end(), isSame) == 1;
  return pick(2) && isThere && isOnce && value.size == size &&
                 value.mayBeTaken && (value.param < 0 || isStep)
             ? &value
             : nullptr;
}

/// A call of a new segment, with the segment.
void RandomProgram::writeCall(bool isStep) {
  std::string name = "s" + std::to_string(numSegments++);
  std::vector<Value> operands, fresh;
  std::vector<std::string> names, tensors, results, memrefs, inPlace;
  int numOperands = 1 + pick(3), numResults = 1 + pick(3);
  for (int i = 0; i < numOperands; ++i) {
    operands.push_back(values[pick(static_cast<int>(values.size()))]);
    names.push_back(operands.back().name);
    tensors.push_back("tensor" + typeOf(operands.back().size));
    memrefs.push_back("memref" + typeOf(operands.back().size));
  }
  for (int i = 0; i < numResults; ++i) {
    int size = kSizes[pick(4)];
    fresh.push_back({"%" + name + "#" + std::to_string(i), size});
    results.push_back("tensor" + typeOf(size));
    memrefs.push_back("memref" + typeOf(size));
    const Value *old = pickReplaced(operands, size, isStep);
    if (!old)
      continue;
    inPlace.push_back(std::to_string(i));
    inPlace.push_back(std::to_string(old - operands.data()));
    if (old->param >= 0) {
      updated[old->param] = fresh.back().name;
      fresh.back().mayBeTaken = false;
    }
    std::erase_if(values, [&](const Value &v) { return v.name == old->name; });
  }
  values.insert(values.end(), fresh.begin(), fresh.end());
  std::string type = "(" + list(tensors) + ") -> (" + list(results) + ")";
  calls += "  %" + name + ":" + std::to_string(numResults) + " = call @" +
           name + "(" + list(names) + ") : " + type + "\n";
  segments += "func.func private @" + name + type + "\n";
  segments += "func.func private @" + name + "_body(!llvm.ptr, " +
              list(memrefs) + ", memref<" + std::to_string(pick(200)) +
              "xi8>) attributes {dist.segment = \"" + name + "\"";
  if (!inPlace.empty())
    segments += ", dist.in_place = array<i64: " + list(inPlace) + ">";
  segments += "}\n";
}

std::string RandomProgram::writeEntry(const char *name, bool isStep) {
  std::vector<std::string> arguments, results, types, returned;
  values.clear();
  calls.clear();
  updated.assign(kNumParameters, "");
  for (int i = 0; i < kNumParameters; ++i) {
    std::string param = "p" + std::to_string(i);
    // Two of each type, so that they can change places.
    values.push_back({"%" + param, kSizes[i / 2], i});
    arguments.push_back("%" + param + ": tensor" + typeOf(kSizes[i / 2]) +
                        " {nn.param = \"" + param + "\"}");
  }
  int numCalls = 1 + pick(12);
  for (int i = 0; i < numCalls; ++i)
    writeCall(isStep);
  auto give = [&](int size, const std::string &mark, std::string name = "") {
    returned.push_back(name.empty() ? pickOf(size).name : name);
    types.push_back("tensor" + typeOf(size));
    results.push_back(types.back() + " {" + mark + "}");
  };
  for (int i = 0; isStep && i < kNumParameters; ++i)
    give(kSizes[i / 2], "nn.param = \"p" + std::to_string(i) + "\"",
         updated[i]);
  give(1, "nn.loss");
  for (int i = 0; isStep && i < kNumParameters; ++i)
    give(kSizes[i / 2], "nn.grad = \"p" + std::to_string(i) + "\"");
  return "func.func @" + std::string(name) + "(" + list(arguments) + ") -> (" +
         list(results) + ") {\n" + calls + "  return " + list(returned) +
         " : " + list(types) + "\n}\n";
}

std::string RandomProgram::write() {
  std::string text = writeEntry("step", true);
  text += writeEntry("loss", false);
  return text + segments;
}
