#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the model files of this folder; with --check compares them instead."""

import argparse
import difflib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "python"))

from dist.models.__main__ import model_file

SIZES = "--layers 2 --hidden 32 --heads 4 --seq 16 --batch 8 --vocab 48"
MODELS = {
    "gpt-2l": "gpt",
    "gpt-2l-dropout": "gpt --dropout 0.1",
    "gpt-2l-no-attention-bias": "gpt --no-attention-bias",
    "gpt-2l-straight-line": "gpt --straight-line",
    "gpt-2l-untied": "gpt --untied",
    "llama-2l": "llama --kv-heads 2",
    "llama-2l-dropout": "llama --kv-heads 2 --dropout 0.1",
    "llama-2l-fused-gate-up": "llama --kv-heads 2 --fused-gate-up",
    "llama-2l-straight-line": "llama --kv-heads 2 --straight-line",
    "llama-2l-tied": "llama --kv-heads 2 --tied",
}


def text_of(arguments):
    return model_file(f"{arguments} {SIZES}".split())


def differences(name, expected):
    path = FOLDER / f"{name}.mlir"
    found = path.read_text() if path.exists() else ""
    return difflib.unified_diff(
        found.splitlines(True), expected.splitlines(True), str(path), "generated"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = False
    for name, arguments in MODELS.items():
        if not check:
            (FOLDER / f"{name}.mlir").write_text(text_of(arguments))
            continue
        for line in differences(name, text_of(arguments)):
            stale = True
            print(line, end="")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
