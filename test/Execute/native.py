# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles models for the host under plans and runs them: one device equals the
interpreter in f64, every plan equals one device, after each of five steps.

Without DIST_TEST_LONG a few plans stand for the grid, as plans.py chooses them.
What legal.py says may be refused must be, with its reason; nothing else may.

With --f64 the models are compiled as f64, once written so and once by the
plan's precision, and compared to 1e-10. The step that is interpreted is that of
the same precision: constants which the compiler makes are rounded to the type
that they have."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import tensors
from phases import Plan, legal
from plans import OPTIMIZERS, cells_of
from precision import in_f64

STEPS = 5
RATES = {"sgd": 0.1, "adamw": 0.01}


class Refused(Exception):
    """The compiler ended with an error; the message is what it printed."""


def run(*command):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=600)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-3000:]}")


class Case:
    """One model and optimizer, its inputs and its folder; `flags` are those of
    all plans."""

    def __init__(self, binaries, model, optimizer, folder, flags=()):
        self.binaries, self.model, self.folder = binaries, model, folder
        self.lr, self.name = RATES[optimizer], f"{model.stem} {optimizer}"
        self.flags = ["--optimizer", f"{OPTIMIZERS[optimizer]},lr={self.lr}", *flags]
        self.tolerance = 2e-5
        self.batch = folder / "batch.safetensors"
        self.out = folder / "out.safetensors"
        tensors.write_batch(model, self.batch)

    def compile(self, *words):
        command = [self.binaries / "distc", self.model, *self.flags, *words]
        done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=600)
        if done.returncode == 1:
            raise Refused(done.stderr)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-3000:]}")

    def interpret(self):
        """Results after 1, 2, … steps on one device in f64."""
        step = self.folder / "step.mlir"
        self.compile("--emit", "step", "-o", step)
        for steps in range(1, STEPS + 1):
            run(self.binaries / "dist-interp", step, "--f64", "--steps", steps, "--lr", self.lr,
                "--inputs", self.batch, "--outputs", self.out)  # fmt: skip
            yield tensors.read(self.out)

    def train(self, plan):
        """Results after 0, 1, 2, … steps of the compiled program."""
        program = self.folder / "train"
        mesh = ",".join(f"{axis}={size}" for axis, size in plan.mesh)
        self.compile(*(["--mesh", mesh] if mesh else []), "--zero", plan.zero, "-o", program)
        dumps = []
        for steps in range(STEPS + 1):
            run(program, "--inputs", self.batch, "--steps", steps, "--dump", self.out)
            dumps.append(tensors.read(self.out))
        return dumps

    def errors(self, ours, theirs):
        """The worst error of every common result over the steps."""
        worst = {}
        for steps, (a, b) in enumerate(zip(ours, theirs), 1):
            for name, error in tensors.errors(a, b, steps, self.lr).items():
                worst[name] = max(error, worst.get(name, 0.0))
        return worst


def report(name, errors, tolerance):
    """Prints the worst of some errors; whether all are small and there are all."""
    worst = max(errors, key=errors.get)
    print(f"{name}: {len(errors)} results, worst {worst} {errors[worst]:.2e}", flush=True)
    kinds = {key.split(":")[0] for key in errors}
    return errors[worst] <= tolerance and {"loss", "grad", "param"} <= kinds


def check_alone(case):
    """The dumps of one device, and whether they are the interpreter's."""
    alone = case.train(Plan())
    errors = case.errors(alone[1:], case.interpret())
    return alone, report(f"{case.name} on one device", errors, case.tolerance)


def check_cell(case, plan, alone):
    name = f"{case.name} {plan}"
    reason = legal.refusal(case.model.read_text(), plan)
    try:
        dumps = case.train(plan)
    except Refused as refused:
        if reason and reason in str(refused):
            return True
        print(f"{name}: is refused: {refused}", flush=True)
        return False
    if reason:
        print(f"{name}: is accepted", flush=True)
        return False
    if dumps[0] != alone[0]:
        print(f"{name}: initial values differ", flush=True)
        return False
    return report(name, case.errors(dumps[1:], alone[1:]), case.tolerance)


def cases(binaries, model, cells, folder):
    """A case for each optimizer with its cells."""
    for optimizer in sorted({cell[3] for cell in cells}):
        case = Case(binaries, model, optimizer, folder)
        yield case, [cell for cell in cells if cell[3] == optimizer]


def cases_in_f64(binaries, model, cells, folder):
    """The model written in f64, and made f64 by the plan."""
    written = folder / f"f64-{model.name}"
    written.write_text(in_f64(model.read_text()))
    for case in (
        Case(binaries, written, "sgd", folder),
        Case(binaries, model, "adamw", folder, ["--precision", "f64"]),
    ):
        case.tolerance = 1e-10
        yield case, cells


def check_case(case, cells):
    """Whether a case computes the same on one device and in all cells."""
    alone, is_equal = check_alone(case)
    plans = [Plan((("dp", dp), ("tp", tp)), zero) for dp, tp, zero, _ in cells]
    return [is_equal, *(check_cell(case, plan, alone) for plan in plans)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--f64", action="store_true")
    options = parser.parse_args()
    make, equal = cases_in_f64 if options.f64 else cases, []
    for number, model in enumerate(options.models):
        with tempfile.TemporaryDirectory() as folder:
            for case, cells in make(options.bin, model, cells_of(number), pathlib.Path(folder)):
                equal += check_case(case, cells)
    print(f"{len(equal)} comparisons, {equal.count(False)} failed")
    sys.exit(0 if all(equal) else 1)


main()
