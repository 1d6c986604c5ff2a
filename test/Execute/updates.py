# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The update of compiled programs against the model language's own formulas in
f64: clipping, AdamW with its eps of 1e-8, SGD, frozen parameters, parameters
that the loss does not reach, and steps whose loss is not finite."""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import tensors

LR, DECAY, CLIP, STEPS = 0.1, 0.2, 0.5, 5
BETA1, BETA2, EPS, MOMENTUM = 0.9, 0.95, 1e-8, 0.9
OPTIMIZERS = {
    "adamw": f"name=adamw,lr={LR},weight_decay={DECAY},clip_norm={CLIP},beta2={BETA2}",
    "sgd": f"name=sgd,lr={LR},weight_decay={DECAY},clip_norm={CLIP},momentum={MOMENTUM}",
}
PLANS = ([], ["--mesh", "dp=2,tp=2", "--zero", "1"])
ROWS, COLUMNS = 8, 4
X = [(i * 7 % 11 - 5) / 4 for i in range(ROWS * COLUMNS)]
Y = [i * 3 % 5 - 1.0 for i in range(ROWS)]
DECAYS = {"w", "idle"}


def gradients(values):
    """Loss and gradients of the model, by name."""
    w = [a + b for a, b in zip(values["w"], values["offset"])]
    result = {"w": [0.0] * COLUMNS, "bias": [0.0], "idle": [0.0] * 24, "still": [0.0] * 6}
    loss = 0.0
    for row in range(ROWS):
        x = X[row * COLUMNS : (row + 1) * COLUMNS]
        error = sum(a * b for a, b in zip(x, w)) + values["bias"][0] - Y[row]
        loss += error * error / ROWS
        result["bias"][0] += 2 * error / ROWS
        for column in range(COLUMNS):
            result["w"][column] += 2 * error * x[column] / ROWS
    return loss, result


def adamw(g, state, step):
    m, v = state.get("m", 0.0), state.get("v", 0.0)
    state["m"] = m = BETA1 * m + (1 - BETA1) * g
    state["v"] = v = BETA2 * v + (1 - BETA2) * g * g
    return (m / (1 - BETA1**step)) / (math.sqrt(v / (1 - BETA2**step)) + EPS)


def sgd(g, state, _):
    state["m"] = MOMENTUM * state.get("m", 0.0) + g
    return state["m"]


def train(values, rule):
    """What a dump has after all steps from `values`."""
    values = {name: list(value) for name, value in values.items()}
    states = {}
    for step in range(1, STEPS + 1):
        loss, grads = gradients(values)
        norm = math.sqrt(sum(g * g for grad in grads.values() for g in grad))
        factor = min(1.0, CLIP / (norm + 1e-6))
        for name, grad in grads.items():
            decay = DECAY if name in DECAYS else 0.0
            for i, g in enumerate(grad):
                move = rule(g * factor, states.setdefault((name, i), {}), step)
                values[name][i] -= LR * (move + decay * values[name][i])
    dump = {"loss": [loss], "grad_norm": [norm]}
    dump.update({f"param:{name}": value for name, value in values.items()})
    dump.update({f"grad:{name}": grad for name, grad in grads.items()})
    return dump


class Bench:
    """A compiled program in a folder."""

    def __init__(self, binaries, folder, optimizer, plan):
        self.folder, self.program = folder, folder / "train"
        model = pathlib.Path(__file__).parent / "Inputs" / "line.mlir"
        self.run(binaries / "distc", model, "--optimizer", OPTIMIZERS[optimizer], *plan,
                 "-o", self.program)  # fmt: skip

    def run(self, *command, status=0):
        done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=300)
        if done.returncode != status:
            sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-2000:]}")
        return done.stderr

    def write(self, name, x):
        path = self.folder / name
        batch = {"x": ("F32", [ROWS, COLUMNS], x), "y": ("F32", [ROWS], Y)}
        tensors.write(path, batch)
        return path

    def train(self, inputs, steps, *flags, status=0):
        out = self.folder / "out"
        out.unlink(missing_ok=True)
        message = self.run(self.program, "--inputs", inputs, "--steps", steps, "--dump", out,
                           *flags, status=status)  # fmt: skip
        return tensors.read(out) if status == 0 else message


def check_update(bench, rule):
    batch = bench.write("batch", X)
    start = bench.train(batch, 0)
    values = {name.removeprefix("param:"): value for name, value in start.items()}
    found, expected = bench.train(batch, STEPS), train(values, rule)
    if set(found) != set(expected):
        sys.exit(f"a dump has {sorted(found)}, expected {sorted(expected)}")
    errors = tensors.errors(found, expected, STEPS, LR)
    worst = max(errors, key=errors.get)
    if errors[worst] > 2e-5:
        sys.exit(f"{worst}: {errors[worst]:.2e}")
    for name in ("offset", "still"):
        if found[f"param:{name}"] != start[f"param:{name}"]:
            sys.exit(f"{name} has moved")
    return errors[worst]


def check_non_finite(bench):
    """Two steps, then three whose loss is not finite: they change nothing."""
    batch = bench.write("batch", X)
    for value in (math.inf, math.nan, 3e38):
        bad = bench.write("bad", [*X[:5], value, *X[6:]])
        saved, log = bench.folder / "saved", bench.folder / "log"
        before = bench.train(batch, 2, "--save", saved)
        state = {path.name: tensors.read(path) for path in saved.glob("*.safetensors")}
        after = bench.train(bad, 5, "--load", saved, "--save", saved, "--log", log)
        for name in before:
            if name.startswith("param:") and before[name] != after[name]:
                sys.exit(f"{name} has moved in a step that is not finite")
        if state != {path.name: tensors.read(path) for path in saved.glob("*.safetensors")}:
            sys.exit("a state has moved in a step that is not finite")
        lines = [json.loads(line) for line in log.read_text().splitlines()][-3:]
        if [line["nonfinite"] for line in lines] != [1, 2, 3]:
            sys.exit(f"steps that are not finite are not counted: {lines}")
        if any(line["grad_norm"] is not None for line in lines):
            sys.exit(f"a norm is not null: {lines}")
        message = bench.train(bad, 5, "--stop-on-nonfinite", status=2)
        if not message.startswith("error: step 1: loss") or (bench.folder / "out").exists():
            sys.exit(f"--stop-on-nonfinite says: {message}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for name, rule in (("adamw", adamw), ("sgd", sgd)):
        for plan in PLANS:
            with tempfile.TemporaryDirectory() as folder:
                bench = Bench(options.bin, pathlib.Path(folder), name, plan)
                error = check_update(bench, rule)
                check_non_finite(bench)
            print(f"{name} {' '.join(plan) or 'on one device'}: {error:.1e}", flush=True)


main()
