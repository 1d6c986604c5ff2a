# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPT of the benchmarks: as a model, as a compiled program, as its peers."""

import json
import os
import pathlib
import random
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / "test" / "peers"
LAYERS = 4
SHAPE = dict(hidden=256, heads=8, seq=256, batch=8, vocab=512)
#: Steps that a run makes, and those at its start that do not count.
STEPS, COLD = 12, 2


def run(*command, **options):
    """What `command` prints; ends the benchmark, after its error, if it fails."""
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


class Workshop:
    """Models, tokens and compiled programs, in `folder`."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        self.tokens = folder / "tokens.bin"
        draw = random.Random(1)
        self.tokens.write_bytes(
            b"".join(draw.randrange(SHAPE["vocab"]).to_bytes(2, "little") for _ in range(40000))
        )

    def model(self, layers, *extra):
        """A model file of `layers` layers; its path."""
        words = [f"--{k}={v}" for k, v in SHAPE.items()]
        # The peers' attention has no biases.
        text = run("python3", "-m", "dist.models", "gpt", f"--layers={layers}", *words,
                   "--no-attention-bias", *extra,
                   env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
        path = self.folder / f"gpt-{layers}.mlir"
        path.write_text(text)
        return path

    def compile(self, model, name, *plan):
        """The program `name` of `model` and the seconds it took to compile."""
        program = self.folder / name
        begin = time.time()
        run(self.binaries / "distc", model, "--optimizer", "clip_norm=1.0", *plan, "-o", program)
        return program, time.time() - begin

    def step_ms(self, program, *options):
        """Median milliseconds of a step of `program`."""
        log = self.folder / "log.jsonl"
        run(program, "--data", self.tokens, "--steps", STEPS, "--log", log, *options)
        times = [json.loads(line)["step_ms"] for line in log.read_text().splitlines()]
        return statistics.median(times[COLD:])

    def trace(self, program):
        """Median milliseconds of a step and the events of a traced run."""
        path = self.folder / "trace.json"
        ms = self.step_ms(program, "--trace", path)
        events = json.loads(path.read_text())["traceEvents"]
        return ms, [event for event in events if event["ph"] == "X"]

    def gemms(self, products):
        """Milliseconds of the list `products` alone, and of each product."""
        path = self.folder / "gemms.txt"
        path.write_text("".join(f"{product}\n" for product in products))
        found = json.loads(run(self.binaries / "bench-gemms", path, STEPS - COLD))
        return found["ms"], found["products"]


def has_module(python, name):
    """True if the interpreter `python` is there and imports `name`."""
    if not python.exists():
        return False
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode == 0


def torch_ms(python):
    out = run(python, PEERS / "torch_gpt.py", "--layers", LAYERS, "--steps", STEPS)
    return json.loads(out.splitlines()[-1])["step_ms"]


def jax_ms(python):
    # One device: it computes on all cores.
    out = run(python, PEERS / "jax_gpt.py", "--devices", 1, "--layers", LAYERS,
              "--steps", STEPS)  # fmt: skip
    return json.loads(out.splitlines()[-1])["step_ms"]
