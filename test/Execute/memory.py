# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs keep to the memory that their report promises.

The arena that a rank maps is the report's peak and the sum of its owners, and
from the second step on nobody but the GEMM library allocates: a run of many
steps makes the same calls as a run of few, place by place.

usage: memory.py --bin BIN --preload LIBRARY MODEL...
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PLANS = [
    ["--threads", "2"],
    ["--mesh", "dp=2,tp=2", "--zero", "1", "--optimizer", "clip_norm=1.0"],
    ["--mesh", "dp=2", "--threads", "2", "--optimizer", "name=sgd,lr=0.1"],
]
OWNERS = ("parameters", "gradients", "optimizer", "activations", "buffers", "communicator")
LIBRARIES = ("libdnnl", "libgomp", "libomp")
FEW, MANY = 3, 23


def run(*command, **options):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")


class Program:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        draw = random.Random(1)
        words = [draw.randrange(32).to_bytes(2, "little") for _ in range(4000)]
        (self.folder / "tokens.bin").write_bytes(b"".join(words))
        (self.folder / "held-out.bin").write_bytes(b"".join(words[:300]))

    def compile(self, model, plan):
        run(self.options.bin / "distc", model, *plan, "-o", self.folder / "train",
            "--report", self.folder / "report.json")  # fmt: skip
        return json.loads((self.folder / "report.json").read_text())["memory"]

    def play(self, steps):
        """The calls by place, the largest mapping, the last line of the log."""
        tokens, log = self.folder / "tokens.bin", self.folder / "log.jsonl"
        out = self.folder / "allocations"
        run(self.folder / "train", "--data", tokens,
            "--eval-data", self.folder / "held-out.bin", "--eval-every", 1, "--steps", steps, "--log", log,
            env={**os.environ, "LD_PRELOAD": str(self.options.preload),
                 "DIST_ALLOCATIONS": str(out)})  # fmt: skip
        calls, mapping = collections.Counter(), 0
        for line in out.read_text().splitlines():
            kind, *words = line.split()
            if kind == "call":
                calls[words[0]] += int(words[1])
            else:
                mapping = int(words[0])
        return calls, mapping, json.loads(log.read_text().splitlines()[-1])


def check(program, model, plan):
    """What is wrong, a line each."""
    memory = program.compile(model, plan)
    few, _, _ = program.play(FEW)
    many, mapping, log = program.play(MANY)
    for rank, report in enumerate(memory):
        if report["rank"] != rank or sum(report[o] for o in OWNERS) != report["peak"]:
            yield f"rank {rank}: the owners {report} do not add up to the peak"
        if not report["peak"] == mapping == log["peak_bytes"]:
            yield f"rank {rank}: peak {report['peak']}, arena {mapping}, log {log['peak_bytes']}"
    by_library = 0
    for place in sorted(many):
        more = many[place] - few[place]
        if any(name in place for name in LIBRARIES):
            by_library += more
        elif more:
            yield f"{place} allocates in later steps: {more} times in {MANY - FEW} steps"
    if bool(by_library) != bool(memory[0]["library"]):
        yield f"library: {memory[0]['library']} bytes, but {by_library} calls"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--preload", type=pathlib.Path, required=True)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = False
    for model in options.models:
        for plan in PLANS:
            with tempfile.TemporaryDirectory() as folder:
                for line in check(Program(options, folder), model, plan):
                    print(f"{model.name} {' '.join(plan)}: {line}", file=sys.stderr)
                    failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
