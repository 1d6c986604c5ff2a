# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""safetensors files that no writer makes, each with what a reader must say."""

import json
import struct


def pack(header, data, length=None):
    """A file of a header, text or object, that claims `length` bytes."""
    if not isinstance(header, (str, bytes)):
        header = json.dumps(header)
    text = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def split(blob):
    """Header and data of a good file."""
    (size,) = struct.unpack("<Q", blob[:8])
    return json.loads(blob[8 : 8 + size]), blob[8 + size :]


def hostile_files(blob):
    """Pairs (file, part of the message) made from a good file."""
    header, data = split(blob)
    names = sorted(
        (name for name in header if name != "__metadata__"),
        key=lambda name: header[name]["data_offsets"],
    )
    first, second = names[0], names[1]
    begin, end = header[second]["data_offsets"]

    def change(name, **fields):
        return pack({**header, name: {**header[name], **fields}}, data)

    yield b"", "0 bytes"
    yield blob[:7], "7 bytes"
    yield blob[:40], "truncated"
    yield blob[:-1], "bytes of data"
    yield blob + b"x", "bytes of data"
    yield pack(header, data, length=2**63 + 5), "not a safetensors file"
    yield pack(header, data, length=10**9), "not a safetensors file"
    yield pack(header, data, length=len(blob) + 99), "truncated"
    yield change(second, data_offsets=[begin - 4, end - 4]), "expected"
    yield change(second, data_offsets=[begin, end + len(data)]), f"tensor '{second}' is at"
    yield change(second, data_offsets=[end, begin]), f"tensor '{second}' is at"
    yield change(second, data_offsets=[-4, end]), "a negative number"
    yield change(second, data_offsets=[begin, 2**64]), "number"
    yield change(first, shape=[2**62, 4]), f"tensor '{first}' has"
    yield change(first, shape=[-1]), "a negative number"
    yield change(first, dtype="F7"), "unknown dtype 'F7'"
    yield change(first, dtype=32), "a number"
    yield change(first, note="x"), "unknown key 'note'"
    text = json.dumps(header)
    again = json.dumps({first: header[first]})[1:]
    yield pack(text[:-1] + ", " + again, data), f"'{first}' comes twice"
    yield pack(text.replace('"dtype"', '"dtype": "F32", "dtype"', 1), data), "'dtype' twice"
    yield pack("[" * 1_000_000, data), "expected an object"
    yield pack(f'{{"{first}": ' + "[" * 1_000_000, data), "an array for"
    yield pack('{"a":' * 100_000, data), "unknown key 'a'"
    yield pack(text.encode() + b"\xff", data), "not JSON"
    yield pack(text[:-1], data), "not JSON"
    yield pack("null", data), "the header is null"
