#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The step of a GPT on the host target beside PyTorch, JAX and its own matrix
products, two ranks beside one, the share of the step per kernel, and compile
time by depth. README.md says how to read it.

usage: step.py [--rounds 5] [--step-only] [--bin build/release/bin] [--python build/venv/bin/python]
"""

import argparse
import collections
import pathlib
import statistics
import tempfile

import programs
from shares import Shares, list_gemms, print_shares

PLANS = {"one": (), "dp=2": ("--mesh", "dp=2"), "tp=2": ("--mesh", "tp=2")}


class Turns:
    """Figures that are measured by turns, so that a machine that slows down
    slows all of them."""

    def __init__(self):
        self.figures = collections.defaultdict(list)

    def add(self, name, ms):
        self.figures[name].append(ms)

    def has(self, name):
        return name in self.figures

    def ms(self, name):
        return statistics.median(self.figures[name])

    def ratio(self, name, to):
        """The median over turns of the ratio of one turn."""
        pairs = zip(self.figures[name], self.figures[to])
        return statistics.median(a / b for a, b in pairs)


def choose_peers(python):
    peers = {}
    for name, measure in (("torch", programs.torch_ms), ("jax", programs.jax_ms)):
        if programs.has_module(python, name):
            peers[name] = measure
        else:
            print(f"{name} is not in {python}: left out; scripts/setup-peers installs it")
    return peers


def measure(workshop, python, rounds):
    model = workshop.model(programs.LAYERS)
    compiled = {name: workshop.compile(model, name, *plan)[0] for name, plan in PLANS.items()}
    products = list_gemms(workshop.trace(compiled["one"])[1])
    peers = choose_peers(python)
    turns, shares, alone = Turns(), {name: Shares() for name in PLANS}, []
    for _ in range(rounds):
        for name, program in compiled.items():
            turns.add(name, workshop.step_ms(program))
        ms, each = workshop.gemms(products)
        turns.add("gemms", ms)
        alone.append(each)
        for name, peer in peers.items():
            turns.add(name, peer(python))
        for name, program in compiled.items():
            shares[name].add(*workshop.trace(program))
    sums = collections.Counter()
    for name, times in zip(products, zip(*alone)):
        sums[name] += statistics.median(times)
    return turns, shares, sums


def print_ratios(turns):
    print(f"one device, all cores: {turns.ms('one'):.0f} ms a step")
    for name, title in (("torch", "PyTorch"), ("jax", "JAX"), ("gemms", "own GEMMs alone")):
        if turns.has(name):
            print(f"  {title} {turns.ms(name):.0f} ms: ratio {turns.ratio('one', name):.2f}")
    for name in ("dp=2", "tp=2"):
        print(f"  two ranks, {name}: {turns.ms(name):.0f} ms, ratio to one "
              f"{turns.ratio(name, 'one'):.2f}")  # fmt: skip


def print_kinds(shares):
    """One line a plan: milliseconds of a step by kind."""
    kinds = [*dict.fromkeys(kind for share in shares.values() for kind in share.by_kind())]
    kinds.sort(key="rest".__eq__)
    print(f"{'ms':<6}" + "".join(f"{kind:>11}" for kind in kinds))
    for name, share in shares.items():
        sums = share.by_kind()
        print(f"{name:<6}" + "".join(f"{sums[kind]:>11.2f}" for kind in kinds))


def print_compile_times(workshop):
    for kind, extra in (("layer functions", []), ("straight-line", ["--straight-line"])):
        for layers in (4, 8, 16, 32):
            model = workshop.model(layers, *extra)
            _, seconds = workshop.compile(model, "deep", "--mesh", "dp=2,tp=4")
            print(f"compile, {layers} layers, {kind}: {seconds:.1f} s")


def main():
    root = programs.ROOT
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns that every figure has")
    parser.add_argument("--bin", type=pathlib.Path, default=root / "build/release/bin")
    parser.add_argument("--python", type=pathlib.Path, default=root / "build/venv/bin/python")
    parser.add_argument("--step-only", action="store_true", help="leave compile times out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workshop = programs.Workshop(options.bin, pathlib.Path(folder))
        turns, shares, alone = measure(workshop, options.python, options.rounds)
        print_ratios(turns)
        print()
        print_kinds(shares)
        print()
        print_shares(shares["one"], alone)
        if not options.step_only:
            print()
            print_compile_times(workshop)


main()
