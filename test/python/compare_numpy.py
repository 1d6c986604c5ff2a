# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the interpreter with NumPy on every op: one program per op."""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from numpy_cases import all_cases
from op_programs import ForwardProgram
from safetensors.numpy import load_file, save_file
from upstream_cases import upstream_cases

TOLERANCES = {"f64": 1e-12, "f32": 2e-5}


def error(found, expected):
    """Largest difference, relative to the largest entry (at least 1)."""
    if found.shape != expected.shape:
        return np.inf
    if not expected.size:
        return 0.0
    if expected.dtype != float:
        return 0.0 if np.array_equal(found, expected) else np.inf
    difference = np.abs(found.astype(float) - expected).max()
    return difference / max(1.0, np.abs(expected).max())


def run(interp, program, precision, folder):
    """The results of `program` by name, or the text of what went wrong."""
    model, inputs, outputs = (
        folder / name for name in ("m.mlir", "in.safetensors", "out.safetensors")
    )
    model.write_text(str(program))
    floats = np.float64 if precision == "f64" else np.float32
    stored = {
        name: x.astype(floats) if x.dtype == float else x
        for name, x in program.tensors.items()
    }
    save_file(stored, inputs)
    command = [interp, model, "--entry", "loss", "--inputs", inputs]
    command += ["--outputs", outputs, *(["--f64"] if precision == "f64" else [])]
    result = subprocess.run(command, text=True, capture_output=True)
    return load_file(outputs) if result.returncode == 0 else result.stderr


def compare(interp, label, cases, precision, folder):
    """The number of results that differ; says which."""
    program = ForwardProgram(cases)
    results = run(interp, program, precision, folder)
    if isinstance(results, str):
        print(f"{label}: {results}")
        return len(program.expected)
    wrong = 0
    for name, expected in program.expected.items():
        found = error(results[name], expected) if name in results else np.inf
        if not found <= TOLERANCES[precision]:
            text = program.texts[int(name.partition("_")[0])]
            print(f"{label}: error {found:.3g} ({precision}) in {text}")
            wrong += 1
    return wrong


def cases_by_label():
    by_label = collections.defaultdict(list)
    for case in all_cases() + upstream_cases():
        by_label[case.label].append(case)
    return by_label


def add_options(parser):
    parser.add_argument("--bin", type=pathlib.Path, required=True,
                        help="where dist-interp and dist-opt are")  # fmt: skip
    parser.add_argument("--ops", help="only these, separated by commas")
    parser.add_argument("--except", dest="excluded", default="", help="not these")


def selected_cases(options):
    by_label = cases_by_label()
    wanted = options.ops.split(",") if options.ops else list(by_label)
    excluded = options.excluded.split(",")
    return {label: by_label[label] for label in wanted if label not in excluded}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--precision", choices=list(TOLERANCES), default="f64")
    options = parser.parse_args()
    selected = selected_cases(options)
    interp = options.bin / "dist-interp"
    with tempfile.TemporaryDirectory() as folder:
        wrong = sum(
            compare(interp, label, cases, options.precision, pathlib.Path(folder))
            for label, cases in selected.items()
        )
    total = sum(map(len, selected.values()))
    print(f"{total} cases of {len(selected)} ops, {wrong} results wrong")
    return int(wrong > 0 or not total)


if __name__ == "__main__":
    sys.exit(main())
