# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles random small models for the host, without a mesh and with one, and
compares both programs with the interpreter in f64.

A wrong loop, view, position or group moves results by their own size, so the
bound leaves room for models that amplify the rounding of f32. A failure prints
its seed; `--seed N` runs it again, with `--keep` its model is printed too.
"""

import array
import json
import random
import struct
import sys

import tensors
from phases import Plan, Refused, Toolbox, legal
from random_programs import MESHES, Model, main

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


if __name__ == "__main__":
    sys.exit(main(run_seed, __doc__, 30))
