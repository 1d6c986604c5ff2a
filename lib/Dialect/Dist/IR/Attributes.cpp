//===- Attributes.cpp - Axes, shardings, places ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dist;

#define GET_ATTRDEF_CLASSES
#include "dist/Dialect/Dist/IR/DistOpsAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dist/Dialect/Dist/IR/DistOpsAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t pre = 0, size = 0;
  if (parser.parseString(&name))
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalColon()))
    if (parser.parseLParen() || parser.parseInteger(pre) ||
        parser.parseRParen() || parser.parseInteger(size))
      return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    parser.getBuilder().getStringAttr(name), pre, size);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '"' << getName().getValue() << '"';
  if (!isWhole())
    printer << ":(" << getPre() << ')' << getSize();
}

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr name, int64_t pre, int64_t size) {
  if (name.empty())
    return emitError() << "an axis has an empty name";
  if ((pre == 0 && size == 0) || (pre >= 1 && size >= 2))
    return success();
  return emitError()
         << "sub-axis (" << pre << ")" << size << " of " << name
         << " needs a positive size in front and at least 2 devices";
}

/// Parses `["dp", "tp":(1)2]`.
static ParseResult parseAxes(AsmParser &parser,
                             SmallVectorImpl<AxisAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        auto axis =
            dyn_cast_if_present<AxisAttr>(AxisAttr::parse(parser, Type()));
        if (axis)
          axes.push_back(axis);
        return success(bool(axis));
      });
}

static ParseResult parseAxes(AsmParser &parser, AxesAttr &axes) {
  SmallVector<AxisAttr> list;
  if (parseAxes(parser, list))
    return failure();
  axes = AxesAttr::get(parser.getContext(), list);
  return success();
}

static void printAxes(AsmPrinter &printer, AxesAttr axes) {
  printer << '[';
  llvm::interleaveComma(axes.getAxes(), printer,
                        [&](AxisAttr axis) { axis.print(printer); });
  printer << ']';
}

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  AxesAttr axes;
  return parseAxes(parser, axes) ? Attribute() : Attribute(axes);
}

void AxesAttr::print(AsmPrinter &printer) const { printAxes(printer, *this); }

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

static ParseResult parseDims(AsmParser &parser,
                             SmallVectorImpl<AxesAttr> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseAxes(parser, dims.emplace_back());
  });
}

static void printDims(AsmPrinter &printer, ArrayRef<AxesAttr> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer,
                        [&](AxesAttr axes) { printAxes(printer, axes); });
  printer << ']';
}

/// Parses `partial sum ["tp"]` behind its keyword.
static ParseResult parsePartial(AsmParser &parser, Monoid &monoid,
                                AxesAttr &axes) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Monoid> known = symbolizeMonoid(keyword);
  if (!known)
    return parser.emitError(loc) << "expected sum, max or min, not " << keyword;
  monoid = *known;
  return parseAxes(parser, axes);
}

static void printPartial(AsmPrinter &printer, Monoid monoid, AxesAttr axes) {
  printer << "partial " << stringifyMonoid(monoid) << ' ';
  printAxes(printer, axes);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxesAttr> dims;
  Monoid monoid = Monoid::Sum;
  AxesAttr partial = AxesAttr::get(parser.getContext(), {});
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() || parseDims(parser, dims))
    return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword("partial") || parsePartial(parser, monoid, partial))
      return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    mesh, dims, monoid, partial);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", ";
  printDims(printer, getDims());
  if (isPartial()) {
    printer << ", ";
    printPartial(printer, getMonoid(), getPartial());
  }
  printer << '>';
}

/// Two references to parts of an axis overlap unless one ends where the other
/// begins.
///
///   a          b          overlap
///   tp         anything   yes
///   tp:(1)2    tp:(2)4    no    a ends at 1*2 = 2, where b begins
///   tp:(2)4    tp:(1)2    no
///   tp:(1)4    tp:(2)2    yes
///   dp         tp         no
bool dist::overlap(AxisAttr a, AxisAttr b) {
  if (a.getName() != b.getName())
    return false;
  if (a.isWhole() || b.isWhole())
    return true;
  return a.getPre() * a.getSize() > b.getPre() &&
         b.getPre() * b.getSize() > a.getPre();
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   FlatSymbolRefAttr, ArrayRef<AxesAttr> dims,
                                   Monoid, AxesAttr partial) {
  SmallVector<AxisAttr> seen;
  auto add = [&](AxesAttr axes) -> LogicalResult {
    for (AxisAttr axis : axes.getAxes()) {
      if (llvm::any_of(seen,
                       [&](AxisAttr a) { return overlap(a, axis); })) // C3
        return emitError() << "sharding uses axis " << axis.getName()
                           << " twice";
      seen.push_back(axis);
    }
    return success();
  };
  for (AxesAttr dim : dims)
    if (failed(add(dim)))
      return failure();
  return add(partial);
}

LogicalResult ShardingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == getDims().size()) // C1
    return success();
  return emitError() << "sharding has " << getDims().size()
                     << " dimensions, but the tensor has " << shape.size();
}

ShardingAttr ShardingAttr::dropPartial() const {
  return get(getContext(), getMesh(), getDims());
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() &&
         llvm::all_of(getDims(), [](AxesAttr dim) { return dim.empty(); });
}

//===----------------------------------------------------------------------===//
// Local encodings and places
//===----------------------------------------------------------------------===//

Attribute LocalAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  AxesAttr varying = AxesAttr::get(context, {}), partial = varying;
  Monoid monoid = Monoid::Sum;
  auto parsePart = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("varying")))
      return parseAxes(parser, varying);
    return failure(parser.parseKeyword("partial") ||
                   parsePartial(parser, monoid, partial));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parsePart))
    return {};
  return get(context, varying, monoid, partial);
}

void LocalAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getVarying().empty()) {
    printer << "varying ";
    printAxes(printer, getVarying());
    if (!getPartial().empty())
      printer << ", ";
  }
  if (!getPartial().empty())
    printPartial(printer, getMonoid(), getPartial());
  printer << '>';
}

LogicalResult
LocalAttr::verifyEncoding(ArrayRef<int64_t>, Type,
                          function_ref<InFlightDiagnostic()>) const {
  return success(); // holds for tensors of any shape
}

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxesAttr> dims;
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() || parseDims(parser, dims) || parser.parseComma() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(shape.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  if (shape.size() != dims.size())
    return (void)(parser.emitError(loc)
                  << "place has " << dims.size() << " dimensions but "
                  << shape.size() << " sizes"),
           Attribute();
  return get(parser.getContext(), mesh, dims, shape);
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", ";
  printDims(printer, getDims());
  printer << ", [";
  llvm::interleaveComma(getShape(), printer);
  printer << "]>";
}
