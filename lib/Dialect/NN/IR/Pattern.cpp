//===- Pattern.cpp - Einops patterns --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dist;
using namespace dist::nn;

#define GET_ATTRDEF_CLASSES
#include "dist/Dialect/NN/IR/NNOpsAttrs.cpp.inc"

void NNDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dist/Dialect/NN/IR/NNOpsAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// A recursive-descent parser of one pattern.
class PatternParser {
public:
  PatternParser(llvm::function_ref<InFlightDiagnostic()> emitError,
                MLIRContext *context, StringRef text)
      : emitError(emitError), context(context), text(text), rest(text) {}

  PatternAttr parse();

private:
  FailureOr<TermAttr> parseTerm();
  FailureOr<ArrayAttr> parseDim();
  FailureOr<Attribute> parseName();

  /// Skips blanks; true, and past it, if `token` is next.
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  /// True if a term ends here.
  bool atTermEnd() {
    rest = rest.ltrim();
    return rest.empty() || rest.starts_with(",") || rest.starts_with("->");
  }
  LogicalResult error(const Twine &what) {
    return emitError() << "pattern \"" << text << "\" " << what;
  }

  llvm::function_ref<InFlightDiagnostic()> emitError;
  MLIRContext *context;
  StringRef text, rest;
};
} // namespace

PatternAttr PatternParser::parse() {
  SmallVector<TermAttr> operands;
  do {
    FailureOr<TermAttr> term = parseTerm();
    if (failed(term))
      return nullptr;
    operands.push_back(*term);
  } while (consume(","));
  if (!consume("->"))
    return (void)error("lacks '->'"), nullptr;
  FailureOr<TermAttr> result = parseTerm();
  if (failed(result))
    return nullptr;
  rest = rest.ltrim();
  if (!rest.empty())
    return (void)error("has '" + rest + "' behind its result"), nullptr;
  return PatternAttr::get(context, operands, *result);
}

FailureOr<TermAttr> PatternParser::parseTerm() {
  SmallVector<ArrayAttr> dims;
  llvm::StringSet<> seen;
  while (!atTermEnd()) {
    FailureOr<ArrayAttr> dim = parseDim();
    if (failed(dim))
      return failure();
    for (auto name : dim->getAsRange<StringAttr>())
      if (!seen.insert(name.getValue()).second) // C1
        return error("names '" + name.getValue() + "' twice in one term");
    dims.push_back(*dim);
  }
  return TermAttr::get(context, dims);
}

FailureOr<ArrayAttr> PatternParser::parseDim() {
  SmallVector<Attribute> names;
  if (consume("(")) {
    while (!consume(")")) {
      if (atTermEnd())
        return error("lacks ')'");
      if (consume("1"))
        continue;
      FailureOr<Attribute> name = parseName();
      if (failed(name))
        return failure();
      names.push_back(*name);
    }
  } else if (!consume("1")) {
    FailureOr<Attribute> name = parseName();
    if (failed(name))
      return failure();
    names.push_back(*name);
  }
  return ArrayAttr::get(context, names);
}

FailureOr<Attribute> PatternParser::parseName() {
  rest = rest.ltrim();
  StringRef name =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (name.empty() || !(llvm::isAlpha(name.front()) || name.front() == '_'))
    return error("expects a name at '" + rest + "'");
  if (name == "kind" || name == "pattern") // C3
    return error("names '" + name + "', which is an attribute of its own");
  rest = rest.drop_front(name.size());
  return Attribute(StringAttr::get(context, name));
}

PatternAttr
PatternAttr::parseText(llvm::function_ref<InFlightDiagnostic()> emitError,
                       MLIRContext *context, StringRef text) {
  return PatternParser(emitError, context, text).parse();
}

SmallVector<StringRef> TermAttr::getNames() const {
  SmallVector<StringRef> names;
  for (ArrayAttr dim : getDims())
    for (auto name : dim.getAsRange<StringAttr>())
      names.push_back(name.getValue());
  return names;
}

bool TermAttr::hasName(StringRef name) const {
  return llvm::is_contained(getNames(), name);
}

std::string TermAttr::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      getDims(), os,
      [&](ArrayAttr dim) {
        if (dim.empty()) {
          os << "1";
          return;
        }
        os << (dim.size() > 1 ? "(" : "");
        llvm::interleave(
            dim.getAsRange<StringAttr>(), os,
            [&](StringAttr name) { os << name.getValue(); }, " ");
        os << (dim.size() > 1 ? ")" : "");
      },
      " ");
  return text;
}

std::string PatternAttr::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(getOperands(), os,
                        [&](TermAttr term) { os << term.getText(); });
  os << (text.empty() ? "-> " : " -> ") << getResult().getText();
  return StringRef(text).rtrim().str();
}

Attribute PatternAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  return parseText([&] { return parser.emitError(loc); }, parser.getContext(),
                   text);
}

void PatternAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}

Attribute TermAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  PatternAttr pattern = PatternAttr::parseText(
      [&] { return parser.emitError(loc); }, parser.getContext(), "-> " + text);
  return pattern ? Attribute(pattern.getResult()) : Attribute();
}

void TermAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Records or checks what `dim` of size `size` says about `sizes`; sets
/// `changed` where a new size is known. Groups with two unknown names wait.
static LogicalResult unifyDim(Operation *op, ArrayAttr dim, int64_t size,
                              NameSizes &sizes, bool &changed) {
  int64_t known = 1;
  StringAttr unknown;
  for (auto name : dim.getAsRange<StringAttr>()) {
    auto it = sizes.find(name.getValue());
    if (it != sizes.end())
      known *= it->second;
    else if (unknown)
      return success();
    else
      unknown = name;
  }
  TermAttr shown = TermAttr::get(op->getContext(), {dim});
  if (!unknown && known != size)
    return op->emitOpError("dimension '")
           << shown.getText() << "' has size " << size
           << ", but its names give " << known;
  if (unknown && (known == 0 || size % known != 0))
    return op->emitOpError("dimension '")
           << shown.getText() << "' of size " << size << " does not divide by "
           << known;
  if (unknown) {
    sizes[unknown.getValue()] = size / known;
    changed = true;
  }
  return success();
}

/// The terms of `pattern` that `types` belong to: operands, then the result.
static LogicalResult checkRanks(Operation *op, PatternAttr pattern,
                                TypeRange operands, TypeRange results) {
  if (pattern.getOperands().size() != operands.size())
    return op->emitOpError("pattern has ")
           << pattern.getOperands().size() << " operand terms, but there are "
           << operands.size() << " operands";
  auto check = [&](TermAttr term, Type type) -> LogicalResult {
    if (cast<RankedTensorType>(type).getRank() ==
        int64_t(term.getDims().size()))
      return success();
    return op->emitOpError("term '")
           << term.getText() << "' has " << term.getDims().size()
           << " dimensions, but the tensor is " << type;
  };
  for (auto [term, type] : llvm::zip_equal(pattern.getOperands(), operands))
    if (failed(check(term, type)))
      return failure();
  for (Type type : results)
    if (failed(check(pattern.getResult(), type)))
      return failure();
  return success();
}

FailureOr<NameSizes> nn::inferNameSizes(Operation *op, PatternAttr pattern,
                                        TypeRange operands, TypeRange results) {
  if (failed(checkRanks(op, pattern, operands, results)))
    return failure();
  NameSizes sizes;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (auto size = dyn_cast<IntegerAttr>(attr.getValue()))
      if (!attr.getName().strref().contains('.'))
        sizes[attr.getName()] = size.getInt();
  SmallVector<std::pair<ArrayAttr, int64_t>> dims;
  auto append = [&](TermAttr term, Type type) {
    for (auto [dim, size] : llvm::zip_equal(
             term.getDims(), cast<RankedTensorType>(type).getShape()))
      dims.emplace_back(dim, size);
  };
  for (auto [term, type] : llvm::zip_equal(pattern.getOperands(), operands))
    append(term, type);
  for (Type type : results)
    append(pattern.getResult(), type);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [dim, size] : dims)
      if (failed(unifyDim(op, dim, size, sizes, changed)))
        return failure();
  }
  for (auto [dim, size] : dims)
    for (auto name : dim.getAsRange<StringAttr>())
      if (!sizes.contains(name.getValue()))
        return op->emitOpError("cannot infer the size of '")
               << name.getValue() << "'; give it as an attribute";
  return sizes;
}
