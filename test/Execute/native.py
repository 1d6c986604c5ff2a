# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles models for the host under several plans, runs them, and compares
one device with the interpreter in f64 and every plan with one device.

With --f64 the models are compiled as f64, once written so and once by the
plan's precision, and compared with the interpreter to 1e-10. The step that is
interpreted is that of the same precision: constants which the compiler makes
are rounded to the type that they have."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import tensors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from precision import in_f64  # noqa: E402

STEPS, LR = 3, 0.1
SGD = f"name=sgd,lr={LR},momentum=0.9"
ADAMW = f"name=adamw,lr={LR},eps=1e-4,clip_norm=0.5"
PLANS = ["dp=2", "tp=2", "dp=2,tp=2", "dp=4", "tp=4", "dp=2,tp=2 --zero 1", "dp=4 --zero 1"]


def run(*command):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


class Case:
    """One model, its inputs and its folder; `flags` are those of all plans."""

    def __init__(self, binaries, model, folder, optimizer=SGD, flags=()):
        self.binaries, self.model, self.folder = binaries, model, folder
        self.flags = ["--optimizer", optimizer, *flags]
        self.batch = folder / "batch.safetensors"
        tensors.write_batch(model, self.batch)

    def interpret(self):
        step, out = self.folder / "step.mlir", self.folder / "oracle.safetensors"
        run(self.binaries / "distc", self.model, *self.flags, "--emit", "step", "-o", step)
        run(self.binaries / "dist-interp", step, "--f64", "--steps", STEPS, "--lr", LR,
            "--inputs", self.batch, "--outputs", out)  # fmt: skip
        return tensors.read(out)

    def compile_and_run(self, plan, steps=STEPS):
        program, out = self.folder / "train", self.folder / "dump.safetensors"
        words = ["--mesh", *plan.split()] if plan else []
        run(self.binaries / "distc", self.model, *self.flags, *words, "-o", program)
        run(program, "--inputs", self.batch, "--steps", steps, "--dump", out)
        return tensors.read(out)


def written_in_f64(model, folder):
    target = folder / f"f64-{model.name}"
    target.write_text(in_f64(model.read_text()))
    return target


def cases(options, model, folder):
    """The cases of a model by the word that tells them apart."""
    if not options.f64:
        return {"": Case(options.bin, model, folder)}
    written = written_in_f64(model, folder)
    return {
        "written in f64": Case(options.bin, written, folder),
        "by precision f64": Case(options.bin, model, folder, ADAMW, ["--precision", "f64"]),
    }


def report(name, errors, tolerance):
    worst = max(errors, key=errors.get)
    print(f"{name}: {len(errors)} results, worst {worst} {errors[worst]:.2e}", flush=True)
    return errors[worst] <= tolerance


def check_case(name, case, plans, tolerance):
    """Whether the program for one device and those of `plans` are right."""
    alone = case.compile_and_run("")
    errors = tensors.errors(alone, case.interpret(), STEPS, LR)
    equal = report(f"{name} on one device", errors, tolerance)
    for plan in plans:
        errors = tensors.errors(case.compile_and_run(plan), alone, STEPS, LR)
        equal &= report(f"{name} {plan}", errors, tolerance)
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--plans", type=int, default=len(PLANS), help="how many plans")
    parser.add_argument("--f64", action="store_true")
    options = parser.parse_args()
    tolerance = 1e-10 if options.f64 else 2e-5
    equal, turn = True, 0
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            for word, case in cases(options, model, pathlib.Path(folder)).items():
                plans = [PLANS[(turn + i) % len(PLANS)] for i in range(options.plans)]
                turn += options.plans
                equal &= check_case(f"{model.name} {word}".strip(), case, plans, tolerance)
    sys.exit(0 if equal else 1)


main()
