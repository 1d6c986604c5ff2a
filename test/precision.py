# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of a model in another precision."""

import re


def in_f64(text):
    """`text` with f64 tensors; options of ops keep their types."""
    text = re.sub(r"(value = \S+ : )f32", r"\1f64", text)
    return re.sub(r"tensor<((?:\d+x)*)f32>", r"tensor<\1f64>", text)
