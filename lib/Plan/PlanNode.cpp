//===- PlanNode.cpp - A value of the plan as written ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanNode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;
using namespace dist;

static Error makeError(StringRef where, const Twine &message) {
  return createStringError(inconvertibleErrorCode(),
                           where + Twine("error: ") + message);
}

Error PlanNode::fail(const Twine &message) const {
  return makeError(where, message);
}

//===----------------------------------------------------------------------===//
// YAML
//===----------------------------------------------------------------------===//

namespace {
/// Turns YAML nodes, which must be visited in document order, into ours.
class YamlReader {
public:
  YamlReader(StringRef name, StringRef text) : name(name) {
    sources.setDiagHandler(remember, this);
    stream = std::make_unique<yaml::Stream>(MemoryBufferRef(text, name),
                                            sources, /*ShowColors=*/false);
  }

  Expected<PlanNode> read();

private:
  static void remember(const SMDiagnostic &diag, void *reader) {
    auto &self = *static_cast<YamlReader *>(reader);
    if (self.message.empty())
      self.message =
          (self.name + ":" + Twine(diag.getLineNo()) + ":" +
           Twine(diag.getColumnNo() + 1) + ": error: " + diag.getMessage())
              .str();
  }
  std::string getWhere(const yaml::Node &node) {
    auto [line, column] = sources.getLineAndColumn(node.getSourceRange().Start);
    return (name + ":" + Twine(line) + ":" + Twine(column) + ": ").str();
  }
  Error getMalformed() {
    return createStringError(inconvertibleErrorCode(),
                             message.empty() ? name + ": error: malformed YAML"
                                             : Twine(message));
  }
  Expected<PlanNode> read(yaml::Node *node);
  Error readMap(yaml::MappingNode &map, PlanNode &result);

  StringRef name;
  SourceMgr sources;
  std::unique_ptr<yaml::Stream> stream;
  std::string message; ///< of the first syntax error
};
} // namespace

Error YamlReader::readMap(yaml::MappingNode &map, PlanNode &result) {
  for (yaml::KeyValueNode &entry : map) {
    auto *key = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
    if (!key)
      return stream->failed() ? getMalformed() : result.fail("a key is a word");
    SmallString<32> storage;
    std::string name = key->getValue(storage).str();
    std::string where = getWhere(*key);
    if (llvm::any_of(result.entries,
                     [&](const PlanEntry &e) { return e.key == name; }))
      return makeError(where, "key '" + Twine(name) + "' is given twice");
    yaml::Node *node = entry.getValue();
    if (isa_and_present<yaml::NullNode>(node))
      return makeError(where, "key '" + Twine(name) + "' has no value");
    Expected<PlanNode> value = read(node);
    if (!value)
      return value.takeError();
    result.entries.push_back({name, where, std::move(*value)});
  }
  return Error::success();
}

Expected<PlanNode> YamlReader::read(yaml::Node *node) {
  if (!node || stream->failed())
    return getMalformed();
  PlanNode result;
  result.where = getWhere(*node);
  if (auto *scalar = dyn_cast<yaml::ScalarNode>(node)) {
    SmallString<64> storage;
    result.text = scalar->getValue(storage).str();
    return result;
  }
  if (auto *map = dyn_cast<yaml::MappingNode>(node)) {
    result.kind = PlanNode::Kind::Map;
    if (Error error = readMap(*map, result))
      return error;
    return result;
  }
  auto *list = dyn_cast<yaml::SequenceNode>(node);
  if (!list)
    return result.fail("expected a value, a map or a list");
  result.kind = PlanNode::Kind::List;
  for (yaml::Node &element : *list) {
    Expected<PlanNode> value = read(&element);
    if (!value)
      return value.takeError();
    result.entries.push_back({"", value->where, std::move(*value)});
  }
  return result;
}

Expected<PlanNode> YamlReader::read() {
  auto document = stream->begin();
  yaml::Node *root = document == stream->end() ? nullptr : document->getRoot();
  if (stream->failed())
    return getMalformed();
  PlanNode result;
  result.kind = PlanNode::Kind::Map;
  if (root && !isa<yaml::NullNode>(root)) {
    Expected<PlanNode> node = read(root);
    if (!node)
      return node.takeError();
    result = std::move(*node);
  }
  if (stream->failed())
    return getMalformed();
  if (root && ++document != stream->end())
    return createStringError(name + ": error: has a second document");
  return stream->failed() ? Expected<PlanNode>(getMalformed())
                          : Expected<PlanNode>(std::move(result));
}

Expected<PlanNode> dist::parseYaml(StringRef name, StringRef text) {
  return YamlReader(name, text).read();
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// `text` cut at the commas outside brackets and quotes.
static SmallVector<StringRef> splitAtCommas(StringRef text) {
  SmallVector<StringRef> parts;
  int depth = 0;
  bool isQuoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    isQuoted ^= c == '"';
    if (isQuoted)
      continue;
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == ',' && depth == 0) {
      parts.push_back(text.slice(begin, i).trim());
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin).trim());
  return parts;
}

Expected<PlanNode> dist::parseFlag(StringRef name, StringRef text) {
  text = text.trim();
  if (text.starts_with("[") || text.starts_with("{"))
    return parseYaml(name, text);
  PlanNode result;
  SmallVector<StringRef> parts = splitAtCommas(text);
  bool isMap = parts.front().contains('=');
  if (!isMap && parts.size() == 1) {
    result.text = text.str();
    return result;
  }
  result.kind = isMap ? PlanNode::Kind::Map : PlanNode::Kind::List;
  for (StringRef part : parts) {
    auto [key, value] = isMap ? part.split('=') : std::pair(StringRef(), part);
    if (isMap && (key.empty() || value.empty()))
      return result.fail(name + ": expected key=value, not '" + part + "'");
    if (isMap && llvm::any_of(result.entries,
                              [&](const PlanEntry &e) { return e.key == key; }))
      return result.fail(name + ": '" + key + "' is given twice");
    PlanNode element;
    element.text = value.str();
    result.entries.push_back({key.str(), "", std::move(element)});
  }
  return result;
}
