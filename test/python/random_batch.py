# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random tokens and targets for a model file: `random_batch.py MODEL OUT`."""

import re
import sys

import numpy as np
from safetensors.numpy import save_file


def write_batch(model, out):
    text = open(model).read()
    (batch, seq), vocab = (
        tuple(map(int, re.search(pattern, text).groups()))
        for pattern in (
            r"%tokens: tensor<(\d+)x(\d+)xi32>",
            r"nn\.embedding .* : \(tensor<(\d+)x",
        )
    )
    generator = np.random.default_rng(1)
    names = ("tokens", "targets")
    draws = {n: generator.integers(0, vocab[0], (batch, seq)) for n in names}
    save_file({name: x.astype(np.int32) for name, x in draws.items()}, out)


if __name__ == "__main__":
    write_batch(*sys.argv[1:])
