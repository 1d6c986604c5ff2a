//===- PlanNode.h - A value of the plan as written --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_PLAN_PLANNODE_H
#define DIST_LIB_PLAN_PLANNODE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dist {

struct PlanEntry;

/// A scalar, map or list, written in a file or as a flag.
struct PlanNode {
  enum class Kind { Scalar, Map, List };

  Kind kind = Kind::Scalar;
  std::string where;              ///< `plan.yaml:3:7: `, empty for a flag
  std::string text;               ///< of a scalar
  std::vector<PlanEntry> entries; ///< of a map or list, as they stand

  /// An error at this node.
  llvm::Error fail(const llvm::Twine &message) const;
};

/// An entry of a map, or of a list, where the key is empty.
struct PlanEntry {
  std::string key;
  std::string where;
  PlanNode value;
};

/// Reads one YAML document; an empty one is an empty map.
llvm::Expected<PlanNode> parseYaml(llvm::StringRef name, llvm::StringRef text);

/// Reads the flag form of a value; `name` stands for a file in errors.
llvm::Expected<PlanNode> parseFlag(llvm::StringRef name, llvm::StringRef text);

} // namespace dist

#endif // DIST_LIB_PLAN_PLANNODE_H
