# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds mutated model and plan files to `distc`, and what it compiles to the
machine: each is taken or refused. As fuzz.py, but a file at a time.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

from fuzz import WORDS, mutate, verdict

PLANS = (
    "mesh: {dp: 2, tp: 2}\nzero: 1\noptimizer: {name: sgd, lr: 0.1, momentum: 0.9}\n",
    "mesh:\n  tp: 2\n  dp: 4\nzero: {stage: 1, axes: [\"dp\"], threshold: 0}\nthreads: 1\n",
    "microbatches: 1\nsequence: none\ncontext: none\nschedule: 1f1b\nvirtual_stages: 1\n"
    "stages: auto\nrecompute: none\nprecision: f32\nthreads: auto\noverlap: none\n"
    "offload: none\n",
    "mesh: {x: 2, tp: 2}\noptimizer: {name: adamw, lr: 3.0e-4, beta1: 0.9, beta2: 0.95,\n"
    "  eps: 1.0e-8, weight_decay: 0.1, clip_norm: 1.0}\nconstraints:\n"
    "  - {param: \"wte.*\", sharding: '[[\"x\"], [\"tp\"]]'}\n"
    "  - {param: \"*.*\", sharding: '[[], [\"tp\":(1)2]]'}\n",
)
YAML = ("&a", "*a", "!!str", "- ", "? ", "|", ">", "\t", "---", "...", ":", "#", "~", "'", '"',
        "{", "}", "[", "]", "\n", "\n  ", "zero", "mesh", "pp", "auto", "full", "ring", "bf16",
        "*", "'[[\"dp\"]]'", "'[[]'", "1f1b", "1e400", "0x10", "-0")  # fmt: skip
MESHES = ("dp=2,tp=2", "tp=4", "dp=8")


class Fuzzer:
    def __init__(self, binaries, models, seed, folder):
        self.distc, self.folder = binaries / "distc", folder
        self.texts = sorted((path.read_text() for path in models), key=len)
        self.random = random.Random(seed)
        self.model, self.plan = folder / "model.mlir", folder / "plan.yaml"
        self.program, self.data = folder / "train", folder / "data.bin"
        self.data.write_bytes(bytes(i % 7 * (1 - i % 2) for i in range(4000)))
        self.count = self.compiled = 0

    def draw(self):
        """Writes a mutant; the flags that name it."""
        plan = self.random.choice(PLANS)
        if self.random.random() < 0.4:  # of a small model, which compiles soon
            text = self.random.choice(self.texts[: len(self.texts) // 2])
            plan = mutate(plan, self.random, (*YAML, *WORDS))
        else:
            text = mutate(self.random.choice(self.texts), self.random)
        self.model.write_text(text)
        self.plan.write_text(plan)
        flags = ["--plan", self.plan]
        if self.random.random() < 0.5:
            flags += ["--mesh", self.random.choice(MESHES)]
        return [self.model, *flags]

    def problem(self, *command):
        return verdict([*map(str, command)], "", 60)

    def step(self):
        """One mutant; what is wrong with it, or nothing."""
        flags = self.draw()
        self.count += 1
        self.program.unlink(missing_ok=True)
        # Most are refused at once, and a share of the others is compiled.
        problem = self.problem(self.distc, *flags, "--report", self.program, "--dry-run")
        if problem or not self.program.exists() or self.random.random() < 0.5:
            return problem
        self.program.unlink()
        problem = self.problem(self.distc, *flags, "-o", self.program)
        if problem or not self.program.exists():
            return problem
        self.compiled += 1
        return self.problem(self.program, "--data", self.data, "--steps", 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options.bin, options.models, options.seed, pathlib.Path(folder))
        while time.monotonic() < end:
            problem = fuzzer.step()
            if problem:
                print(fuzzer.model.read_text(), fuzzer.plan.read_text(), problem, sep="\n")
                return 1
    print(f"{fuzzer.count} mutants, {fuzzer.compiled} compiled, no crash")
    return int(fuzzer.count == 0)


if __name__ == "__main__":
    sys.exit(main())
