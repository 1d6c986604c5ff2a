# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles models for the host under several plans, runs them, and compares
one device with the interpreter in f64 and every plan with one device."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import tensors

STEPS, LR = 3, 0.1
OPTIMIZER = f"name=sgd,lr={LR},momentum=0.9"
PLANS = ["dp=2", "tp=2", "dp=2,tp=2", "dp=4", "tp=4", "dp=2,tp=2 --zero 1", "dp=4 --zero 1"]


def run(*command):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


class Case:
    """One model, its inputs and its folder."""

    def __init__(self, binaries, model, folder):
        self.binaries, self.model, self.folder = binaries, model, folder
        self.batch = folder / "batch.safetensors"
        tensors.write_batch(model, self.batch)

    def interpret(self):
        step, out = self.folder / "step.mlir", self.folder / "oracle.safetensors"
        run(self.binaries / "distc", self.model, "--optimizer", OPTIMIZER,
            "--emit", "step", "-o", step)  # fmt: skip
        run(self.binaries / "dist-interp", step, "--f64", "--steps", STEPS, "--lr", LR,
            "--inputs", self.batch, "--outputs", out)  # fmt: skip
        return tensors.read(out)

    def compile_and_run(self, plan, steps=STEPS):
        program, out = self.folder / "train", self.folder / "dump.safetensors"
        words = ["--mesh", *plan.split()] if plan else []
        run(self.binaries / "distc", self.model, "--optimizer", OPTIMIZER, *words,
            "-o", program)  # fmt: skip
        run(program, "--inputs", self.batch, "--steps", steps, "--dump", out)
        return tensors.read(out)


def report(name, errors, tolerance):
    worst = max(errors, key=errors.get)
    print(f"{name}: {len(errors)} results, worst {worst} {errors[worst]:.2e}", flush=True)
    return errors[worst] <= tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--plans", type=int, default=len(PLANS), help="how many plans")
    options = parser.parse_args()
    equal = []
    for index, model in enumerate(options.models):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(options.bin, model, pathlib.Path(folder))
            alone = case.compile_and_run("")
            errors = tensors.errors(alone, case.interpret(), STEPS, LR)
            equal.append(report(f"{model.name} on one device", errors, 2e-5))
            for turn in range(options.plans):
                plan = PLANS[(index * options.plans + turn) % len(PLANS)]
                errors = tensors.errors(case.compile_and_run(plan), alone, STEPS, LR)
                equal.append(report(f"{model.name} {plan}", errors, 2e-5))
    sys.exit(0 if all(equal) else 1)


main()
