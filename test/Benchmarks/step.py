#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step time of a GPT on the host target beside PyTorch in the same run, the cost
of two ranks on the same cores, and compile time by depth. Prints ratios.

usage: step.py [--bin build/release/bin] [--python build/venv/bin/python]
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHAPE = dict(hidden=256, heads=8, seq=256, batch=8, vocab=512)


def run(*command, **options):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


class Bench:
    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        tokens = folder / "tokens.bin"
        draw = random.Random(1)
        tokens.write_bytes(
            b"".join(draw.randrange(SHAPE["vocab"]).to_bytes(2, "little") for _ in range(40000))
        )
        self.tokens = tokens

    def model(self, layers, *extra):
        words = [f"--{k}={v}" for k, v in SHAPE.items()]
        text = run("python3", "-m", "dist.models", "gpt", f"--layers={layers}", *words, *extra,
                   "--no-attention-bias",
                   env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
        path = self.folder / f"gpt-{layers}.mlir"
        path.write_text(text)
        return path

    def compile(self, model, *plan):
        program = self.folder / "train"
        begin = time.time()
        run(self.binaries / "distc", model, "--optimizer", "clip_norm=1.0", *plan, "-o", program)
        return program, time.time() - begin

    def step_ms(self, *plan, steps=10):
        program, _ = self.compile(self.model(4), *plan)
        log = self.folder / "log.jsonl"
        run(program, "--data", self.tokens, "--steps", steps, "--log", log)
        times = [json.loads(line)["step_ms"] for line in log.read_text().splitlines()]
        return statistics.median(times[2:])


def torch_ms(python):
    if not python.exists():
        return None
    out = run(python, ROOT / "test/peers/torch_gpt.py", "--steps", "10")
    return json.loads(out.splitlines()[-1])["step_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--python", type=pathlib.Path, default=ROOT / "build/venv/bin/python")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, pathlib.Path(folder))
        # Turn about, so that a machine that slows down slows both.
        ours, torch = [], []
        for _ in range(3):
            ours.append(bench.step_ms())
            torch.append(torch_ms(options.python))
        one = statistics.median(ours)
        print(f"one device, two cores: {one:.0f} ms a step")
        if all(torch):
            print(f"  PyTorch {statistics.median(torch):.0f} ms: ratio {one / statistics.median(torch):.2f}")
        for mesh in ("dp=2", "tp=2"):
            two = bench.step_ms("--mesh", mesh)
            print(f"  {mesh}: {two:.0f} ms, ratio to one rank {two / one:.2f}")
        for kind, extra in (("layer functions", []), ("straight-line", ["--straight-line"])):
            for layers in (4, 8, 16, 32):
                _, seconds = bench.compile(bench.model(layers, *extra), "--mesh", "dp=2,tp=4")
                print(f"compile, {layers} layers, {kind}: {seconds:.1f} s")


main()
