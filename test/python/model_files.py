# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads back the files that `dist.models` wrote."""

import pathlib
import shlex
import sys

import philox
import torch
from safetensors.torch import load_file

from dist.models.__main__ import parse


def read_model(path):
    """Options and parameters of a model file, from the command in its first line."""
    line = pathlib.Path(path).read_text().split("\n", 1)[0]
    _, found, arguments = line.partition(" -m dist.models ")
    if not found:
        sys.exit(f"{path}: the first line is not the command of dist.models")
    options = parse(shlex.split(arguments))
    return options, options.model(options).parameters()


def initial_values(parameters, seed, dtype):
    """What a run starts from: initial values are f32 under every precision."""
    return {
        p.name: torch.from_numpy(philox.initial_value(seed, p.name, p.shape, p.init))
        .float()
        .to(dtype)
        for p in parameters
    }


def stored_values(parameters, path, dtype):
    """Parameters of a dump (`param:NAME`) or of one file of a checkpoint."""
    stored = load_file(path)
    values = {}
    for name in (p.name for p in parameters):
        value = stored.get(f"param:{name}", stored.get(name))
        if value is None:
            sys.exit(f"{path}: no parameter '{name}'")
        values[name] = value.to(dtype)
    return values
