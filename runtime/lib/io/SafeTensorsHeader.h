//===- SafeTensorsHeader.h - The header of a safetensors file ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_SAFETENSORSHEADER_H
#define DIST_RUNTIME_IO_SAFETENSORSHEADER_H

#include "io/SafeTensors.h"

#include <string>
#include <string_view>
#include <vector>

namespace dist::io {

struct SafeTensorsHeader {
  /// In the order of their data, which they cover without holes. A view's
  /// `data` is null; its data begins where the previous one's ends.
  std::vector<TensorView> tensors;
  Metadata metadata;
};

/// Parses and checks the JSON of a header whose data is `dataBytes` long. An
/// error does not name the file.
Expected<SafeTensorsHeader> parseSafeTensorsHeader(std::string_view text,
                                                   int64_t dataBytes);

/// The JSON of a header; the inverse of the above for names that are UTF-8,
/// differ, and are not `__metadata__`.
std::string formatSafeTensorsHeader(const std::vector<TensorSpec> &tensors,
                                    const Metadata &metadata);

/// `text` as a JSON string, quotes included.
std::string quoteJson(std::string_view text);

} // namespace dist::io

#endif // DIST_RUNTIME_IO_SAFETENSORSHEADER_H
