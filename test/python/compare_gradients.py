# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the gradients of every op with central differences of NumPy in f64."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from compare_numpy import add_options, selected_cases
from op_programs import GradientProgram
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from precision import in_f64  # noqa: E402

# A stencil of fourth order: truncation and rounding are both near 1e-12.
STENCIL = [(-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)]
STEP = 1e-3
TOLERANCE = 1e-8
UNDIFFERENTIABLE = {"attention_grad"}  # a derivative itself
CHOOSING = {"reduce", "arith.maximumf", "arith.minimumf"}
KINKED = {"relu", "math.absf", "math.ceil", "math.floor"}


def weighted_sum(case, number, weights, operands, groups):
    return sum(
        (weights[f"{number}_{i}"] * x).sum()
        for i, x in enumerate(case.results(operands, groups))
        if f"{number}_{i}" in weights
    )


def central_difference(case, number, weights, key, step=STEP):
    """The derivative by operand `key`, a position or the name of a group."""
    operands, groups = list(case.operands), dict(case.groups)
    holder = operands if isinstance(key, int) else groups
    point = holder[key]
    gradient = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        for offset, factor in STENCIL:
            holder[key] = point.copy()
            holder[key][index] += offset * step
            value = weighted_sum(case, number, weights, operands, groups)
            gradient[index] += factor / step * value
    return gradient


def expected_gradient(label, case, number, weights, key):
    """The derivative by operand `key`; NaN at points where there is none."""
    point = case.operands[key] if isinstance(key, int) else case.groups[key]
    if label == "stop_gradient":
        return np.zeros(point.shape)
    # An angle is a position times a frequency: the step is that much smaller.
    step = STEP / 20 if key == "freqs" else STEP
    gradient = central_difference(case, number, weights, key, step)
    if label in CHOOSING:
        # Where another step gives another slope there is a kink in between.
        finer = central_difference(case, number, weights, key, STEP / 8)
        gradient[np.abs(finer - gradient) > 1e-6] = np.nan
    if label in KINKED:
        gradient[np.abs(point - np.round(point)) < 4 * STEP] = np.nan
    return gradient


def widened(label, text):
    """`text` with f64 tensors, so that constants that derivatives introduce are
    not rounded to f32; casts are about the types and stay."""
    if label in ("arith.extf", "arith.truncf"):
        return text
    return in_f64(text)


def run(binaries, label, program, folder):
    """Gradients by parameter name, or the text of what went wrong."""
    model, step, inputs, outputs = (
        folder / name
        for name in ("m.mlir", "s.mlir", "in.safetensors", "out.safetensors")
    )
    model.write_text(widened(label, str(program)))
    save_file(program.tensors, inputs)
    for command in (
        [binaries / "dist-opt", "--dist-to-step", model, "-o", step],
        [binaries / "dist-interp", step, "--entry", "step", "--f64",
         "--inputs", inputs, "--outputs", outputs],
    ):  # fmt: skip
        result = subprocess.run(command, text=True, capture_output=True)
        if result.returncode:
            return result.stderr
    return load_file(outputs)


def compare(binaries, label, cases, folder):
    """The number of gradients that differ, and of all; says which."""
    program = GradientProgram(cases)
    found = run(binaries, label, program, folder)
    if isinstance(found, str):
        print(f"{label}: {found}")
        return 1, 1
    wrong = total = 0
    for number, case in enumerate(cases):
        for key in [*range(len(case.operands)), *case.groups]:
            name = f"c{number}_{key}"
            if name not in program.trained:
                continue
            total += 1
            expected = expected_gradient(label, case, number, program.weights, key)
            error = np.nanmax(np.abs(found[f"grad:{name}"] - expected), initial=0.0)
            error /= max(1.0, np.nanmax(np.abs(expected), initial=0.0))
            if not error <= TOLERANCE:
                wrong += 1
                text = program.texts[number]
                print(f"{label}: operand {key}, error {error:.3g} in {text}")
    return wrong, total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    options = parser.parse_args()
    wrong = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for label, cases in selected_cases(options).items():
            floating = any(x.dtype == float for c in cases for x in c.operands)
            if not floating or label in UNDIFFERENTIABLE:
                continue
            counts = compare(options.bin, label, cases, pathlib.Path(folder))
            wrong, total = wrong + counts[0], total + counts[1]
    print(f"{total} gradients, {wrong} wrong")
    return int(wrong > 0 or not total)


if __name__ == "__main__":
    sys.exit(main())
