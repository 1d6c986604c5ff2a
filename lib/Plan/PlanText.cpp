//===- PlanText.cpp - Parts of a plan as text -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Plan/Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dist;

int64_t Plan::getNumDevices() const {
  int64_t count = 1;
  for (const PlanAxis &axis : mesh)
    count *= axis.size;
  return count;
}

std::string Plan::getMeshText() const {
  return llvm::join(llvm::map_range(mesh,
                                    [](const PlanAxis &axis) {
                                      return axis.name + "=" +
                                             std::to_string(axis.size);
                                    }),
                    ",");
}

/// A YAML scalar in single quotes.
static std::string quote(StringRef text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string Plan::getConstraintsText() const {
  if (constraints.empty())
    return "";
  auto items = llvm::map_range(constraints, [](const ConstraintPlan &wish) {
    return "{param: " + quote(wish.param) +
           ", sharding: " + quote(wish.sharding) + "}";
  });
  return "[" + llvm::join(items, ", ") + "]";
}

SmallVector<std::string> Plan::getConstraintOrigins() const {
  return llvm::map_to_vector(
      constraints, [](const ConstraintPlan &wish) { return wish.where; });
}

bool dist::matchesGlob(StringRef glob, StringRef name) {
  if (glob.empty())
    return name.empty();
  if (glob.front() != '*')
    return !name.empty() && glob.front() == name.front() &&
           matchesGlob(glob.drop_front(), name.drop_front());
  if (matchesGlob(glob.drop_front(), name))
    return true;
  return !name.empty() && name.front() != '.' &&
         matchesGlob(glob, name.drop_front());
}
