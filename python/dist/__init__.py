# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python side of the dist compiler."""
