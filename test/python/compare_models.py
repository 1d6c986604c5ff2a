# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares loss and gradients of model files, on the interpreter, with PyTorch."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import compare_torch
from random_batch import write_batch


def run(*command):
    result = subprocess.run(command, text=True, capture_output=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")


def compare(binaries, model, f64, folder):
    step, batch, out = (folder / name for name in ("step.mlir", "in", "out"))
    precision = ["--f64"] if f64 else []
    write_batch(model, batch)
    run(binaries / "dist-opt", "--dist-to-step", model, "-o", step)
    run(binaries / "dist-interp", step, "--entry", "step", *precision,
        "--inputs", batch, "--outputs", out)  # fmt: skip
    words = [model, out, batch, "--only", "loss,grad:", *precision]
    print(model.name, end=": ", flush=True)
    return compare_torch.compare(compare_torch.parse_arguments([*map(str, words)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True,
                        help="where dist-interp and dist-opt are")  # fmt: skip
    parser.add_argument("--f64", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        equal = [
            compare(options.bin, model, options.f64, pathlib.Path(folder))
            for model in options.models
        ]
    return int(not all(equal))


if __name__ == "__main__":
    sys.exit(main())
