# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""safetensors files and the error measures, with the standard library only."""

import array
import json
import math
import random
import re
import struct

CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q"}


def read(path):
    """The tensors of a file as flat arrays, by name."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = array.array(CODES[entry["dtype"]], data[begin:end])
    return tensors


def write(path, tensors):
    """Writes tensors given as (dtype, shape, values) by name."""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        begin = len(data)
        data += array.array(CODES[dtype], values).tobytes()
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
    blob = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(blob)) + blob + data)


def write_batch(model, path, seed=1):
    """Random ids for the inputs of a model file, below its vocabulary."""
    text = model.read_text()
    vocab = int(re.search(r"nn\.embedding .* : \(tensor<(\d+)x", text).group(1))
    generator = random.Random(seed)
    batch = {}
    for match in re.finditer(r'tensor<([\dx]+)xi32> {nn.input = "(\w+)"}', text):
        shape = [int(size) for size in match.group(1).split("x")]
        values = [generator.randrange(vocab) for _ in range(math.prod(shape))]
        batch[match.group(2)] = ("I32", shape, values)
    write(path, batch)


def largest(values):
    return max(map(abs, values), default=0.0)


def errors(ours, theirs, steps, lr):
    """The error of every common result: of a gradient relative to the step's
    largest entry at least, of a parameter to what the steps can move it."""
    grads = [largest(theirs[name]) for name in theirs if name.startswith("grad:")]
    floor = {"grad:": 1e-2 * max(grads, default=0.0), "param:": lr * steps}
    result = {}
    for name in sorted(set(ours) & set(theirs)):
        a, b = ours[name], theirs[name]
        if len(a) != len(b):
            raise AssertionError(f"{name} has {len(a)} and {len(b)} elements")
        kind = next((k for k in floor if name.startswith(k)), None)
        scale = max(largest(b), floor.get(kind, 0.0)) or 1.0
        result[name] = largest(x - y for x, y in zip(a, b)) / scale
    return result
