# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every op and its derivative for the host and compares loss and
gradients with the interpreter in f64, in f32 and in f64.

All cases of an op are one program, whose loss is a weighted sum of the results;
floating operands are its parameters.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from compare_numpy import add_options, selected_cases
from op_programs import GradientProgram
from safetensors.numpy import load_file, save_file

TOLERANCES = {"f32": 2e-4, "f64": 1e-9}
# No derivative to run, or a cast whose type would change with the program's.
LEFT_OUT = {"attention_grad", "arith.extf", "arith.truncf"}


def run(*command):
    result = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=120)
    if result.returncode:
        raise RuntimeError(result.stderr[-1500:] or f"exit {result.returncode}")


def interpret(binaries, model, folder, precision, tensors):
    step, outputs = folder / "step.mlir", folder / "oracle.safetensors"
    save_file(tensors, folder / "all.safetensors")
    run(binaries / "distc", model, "--precision", precision, "--emit", "step", "-o", step)
    run(binaries / "dist-interp", step, "--f64", "--lr", 0,
        "--inputs", folder / "all.safetensors", "--outputs", outputs)  # fmt: skip
    return load_file(outputs)


def run_natively(binaries, model, folder, precision, inputs, params):
    program, outputs = folder / "train", folder / f"{precision}.safetensors"
    save_file(inputs, folder / "inputs.safetensors")
    save_file(params, folder / "params.safetensors")
    run(binaries / "distc", model, "--precision", precision, "-o", program)
    run(program, "--inputs", folder / "inputs.safetensors", "--load-params",
        folder / "params.safetensors", "--steps", 1, "--lr", 0, "--dump", outputs)  # fmt: skip
    return load_file(outputs)


def compare(binaries, label, cases, folder):
    """How many results differ, and of how many; says which."""
    program = GradientProgram(cases)
    model = folder / "model.mlir"
    model.write_text(str(program))
    single = {
        name: x.astype(np.float32) if x.dtype == float else x
        for name, x in program.tensors.items()
    }
    inputs = {name: x for name, x in single.items() if name not in program.trained}
    params = {name: x for name, x in single.items() if name in program.trained}
    wrong = total = 0
    for precision, tolerance in TOLERANCES.items():
        wide = np.float64 if precision == "f64" else np.float32
        fitting = {
            name: x.astype(wide) if x.dtype == np.float32 else x for name, x in inputs.items()
        }
        expected = interpret(binaries, model, folder, precision, {**fitting, **params})
        found = run_natively(binaries, model, folder, precision, fitting, params)
        for name, want in expected.items():
            if name != "loss" and not name.startswith("grad:"):
                continue
            total += 1
            error = np.max(np.abs(found[name] - want), initial=0.0)
            error /= max(1.0, np.max(np.abs(want), initial=0.0))
            if not error <= tolerance:
                wrong += 1
                print(f"{label}, {precision}: {name}, error {error:.3g}")
    return wrong, total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    options = parser.parse_args()
    wrong = total = 0
    for label, cases in selected_cases(options).items():
        floating = any(x.dtype == float for c in cases for x in c.operands)
        if not floating or label in LEFT_OUT:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                counts = compare(options.bin, label, cases, pathlib.Path(folder))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{label}: {error}")
                counts = 1, 1
        wrong, total = wrong + counts[0], total + counts[1]
    print(f"{total} results, {wrong} wrong")
    return int(wrong > 0 or not total)


if __name__ == "__main__":
    sys.exit(main())
