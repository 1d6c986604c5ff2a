# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks and initial values of compiled programs are bit for bit those of one
device under every plan, and the masks those of the interpreter."""

import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile

import tensors

MODEL = pathlib.Path(__file__).parent / "Inputs" / "masks.mlir"
SIZES = (1, 2, 4)
# The heads and the positions of the masks over tp.
WISHES = ("", 'a=[[],["tp"],[],[]],w=[[],["tp"],[]]', 'a=[[],[],["tp"],[]],w=[[],[],["tp"]]')


def run(*command):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-3000:]}")


class Bench:
    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        self.batch, self.out = folder / "batch", folder / "out"
        identity = [float(i == j) for i in range(8) for j in range(8)]
        tensors.write(self.batch, {
            "x": ("F32", [8, 4, 12], [1.0] * 384),
            "q": ("F32", [8, 4, 8, 4], [0.0] * 1024),
            "v": ("F32", [8, 2, 8, 8], identity * 16),
        })  # fmt: skip

    def compile_and_run(self, *plan):
        """Results after no step and after three, by name."""
        program = self.folder / "train"
        run(self.binaries / "distc", MODEL, *plan, "-o", program)
        dumps = []
        for steps in (0, 3):
            run(program, "--inputs", self.batch, "--steps", steps, "--seed", 5,
                "--dump", self.out)  # fmt: skip
            dumps.append(tensors.read(self.out))
        masks = {name: value for name, value in dumps[1].items() if name.startswith("grad:")}
        return dumps[0], masks

    def interpret(self):
        step = self.folder / "step.mlir"
        run(self.binaries / "distc", MODEL, "--emit", "step", "-o", step)
        run(self.binaries / "dist-interp", step, "--steps", 3, "--seed", 5,
            "--inputs", self.batch, "--outputs", self.out)  # fmt: skip
        return tensors.read(self.out)


def is_mask(values, rate, kept):
    """True if each element is dropped or `kept`, and about `rate` are dropped."""
    dropped = sum(value == 0 for value in values)
    others = {value for value in values if value != 0}
    return len(others) == 1 and abs(others.pop() - kept) < 1e-6 and (
        abs(dropped / len(values) - rate) < 0.1
    )  # fmt: skip


def check(bench):
    """What differs from one device."""
    initial, masks = bench.compile_and_run()
    if not is_mask(masks["grad:w"], 0.3, 1 / 0.7):
        yield "the gradient of w is no mask"
    if not is_mask(masks["grad:a"], 0.4, 1 / 8 / 0.6):
        yield "the gradient of a is no mask"
    oracle = bench.interpret()
    yield from (f"interpreter: {name}" for name in masks if masks[name] != oracle[name])
    for turn, (dp, tp) in enumerate(itertools.product(SIZES, SIZES)):
        wish = WISHES[turn % len(WISHES)]
        plan = ["--mesh", f"dp={dp},tp={tp}", "--zero", turn % 2]
        plan += ["--constraints", wish] if wish else []
        found = bench.compile_and_run(*plan)
        for ours, theirs in zip(found, (initial, masks)):
            if set(ours) != set(theirs):
                yield f"{plan}: {sorted(ours)}"
            yield from (f"{plan}: {name}" for name in theirs if ours.get(name) != theirs[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(check(Bench(options.bin, pathlib.Path(folder))))
    print(*wrong, sep="\n")
    sys.exit(1 if wrong else 0)


main()
