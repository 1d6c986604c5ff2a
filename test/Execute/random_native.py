# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles random small models for the host, without a mesh and with one, and
compares both programs with the interpreter in f64.

A wrong loop, view, position or group moves results by their own size, so the
bound leaves room for models that amplify the rounding of f32. A failure prints
its seed; `--seed N` runs it again, with `--keep` its model is printed too.
"""

import argparse
import array
import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import time

import tensors
from phases import Plan, Refused, Toolbox, legal
from random_programs import MESHES, Model

STEPS, LR, BOUND = 2, 0.01, 1e-3
SGD = ["--optimizer", f"name=sgd,lr={LR},momentum=0.9"]


def write_input(model, path):
    shape = [model.batch, model.seq, model.hidden]
    count = shape[0] * shape[1] * shape[2]
    draw = random.Random(7)
    values = array.array("f", (draw.gauss(0, 1) for _ in range(count)))
    data = values.tobytes()
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}
    header = json.dumps({"x": entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def interpret(tools, path, batch):
    step, out = tools.folder / "step.mlir", tools.folder / "oracle.safetensors"
    tools.run("distc", path, *SGD, "--emit", "step", "-o", step)
    tools.run("dist-interp", step, "--f64", "--steps", STEPS, "--lr", LR,
              "--inputs", batch, "--outputs", out)  # fmt: skip
    return tensors.read(out)


def run_natively(tools, path, batch, plan):
    program, out = tools.folder / "train", tools.folder / "dump.safetensors"
    mesh = ",".join(f"{name}={size}" for name, size in plan.mesh)
    words = ["--mesh", mesh, "--zero", plan.zero] if mesh else []
    tools.run("distc", path, *SGD, *words, "-o", program)
    tools.run(program, "--inputs", batch, "--steps", STEPS, "--dump", out)
    return tensors.read(out)


def run_seed(tools, seed):
    """The model, the plan, and what is wrong with them; None for a model that
    f32 cannot follow."""
    choice = random.Random(seed + 1)
    plan = Plan(tuple(choice.choice(MESHES)), choice.randint(0, 1))
    model = Model(seed, plan.mesh)
    text = model.text()
    if legal.refusal(text, plan):
        return text, plan, []
    meshed, alone = tools.folder / "model.mlir", tools.folder / "alone.mlir"
    meshed.write_text(text)
    # One device knows neither a mesh nor constraints.
    alone.write_text(model.without_mesh(text))
    batch = tools.folder / "batch.safetensors"
    write_input(model, batch)
    wrong = []
    try:
        oracle = interpret(tools, alone, batch)
        if not 1e-6 < oracle["grad_norm"][0] < 1e6:
            return text, plan, None
        for where, path, its in (("one device", alone, Plan(())), ("the plan", meshed, plan)):
            errors = tensors.errors(run_natively(tools, path, batch, its), oracle, STEPS, LR)
            wrong += [f"{where}: {n} differs by {e:.3g}" for n, e in errors.items() if not e <= BOUND]
    except (Refused, AssertionError) as error:
        wrong.append(f"stops: {error}")
    return text, plan, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    seconds = 600 if os.environ.get("DIST_TEST_LONG") == "1" else options.seconds
    end = time.monotonic() + seconds
    seed, runs, failed, left = options.seed or 0, 0, 0, 0
    while runs == 0 or (options.seed is None and time.monotonic() < end):
        with tempfile.TemporaryDirectory() as folder:
            model, plan, wrong = run_seed(Toolbox(options.bin, folder), seed)
        left += wrong is None
        if wrong:
            failed += 1
            print(f"seed {seed}, {plan}:", *wrong[:4], sep="\n  ", flush=True)
        if options.keep:
            print(model)
        seed, runs = seed + 1, runs + 1
    print(f"{runs} programs, {failed} failed, {left} left out")
    return failed != 0 or 2 * left > runs


if __name__ == "__main__":
    sys.exit(main())
