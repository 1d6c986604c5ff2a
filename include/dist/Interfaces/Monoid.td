//===- Monoid.td - How partial values come together ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERFACES_MONOID
#define DIST_INTERFACES_MONOID

include "mlir/IR/EnumAttr.td"

def MonoidAttr : I32EnumAttr<"Monoid", "how partial values come together", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::dist";
}

#endif // DIST_INTERFACES_MONOID
