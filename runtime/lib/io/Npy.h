//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_NPY_H
#define DIST_RUNTIME_IO_NPY_H

#include "io/MappedFile.h"
#include "io/TensorBlock.h"

namespace dist::io {

/// The array in `file`, formats 1 to 3; the view lives as long as the mapping.
/// Refused with the path and the reason: a wrong magic, a truncated or unknown
/// header, big-endian or structured types, Fortran order of a matrix, and data
/// that is shorter than the shape says.
Expected<TensorView> readNpy(const MappedFile &file);

} // namespace dist::io

#endif // DIST_RUNTIME_IO_NPY_H
