# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of a step goes, from the trace of a compiled program."""

import collections
import statistics

from programs import COLD

KINDS = ("gemm", "attention", "kernel", "loop", "copy", "collective")


def kind_of(event):
    return event["cat"] if event["cat"] in KINDS else "collective"


def list_gemms(events):
    """The descriptors of one step's products on rank 0, in the order they run."""
    return [
        event["name"]
        for event in events
        if event["cat"] == "gemm" and event["tid"] == 0 and event["args"]["step"] == COLD + 1
    ]


class Shares:
    """Calls and milliseconds of a step by kind and name: medians over steps of
    the mean over ranks, of one or more traced runs."""

    def __init__(self):
        self.runs = []
        self.steps = []

    def add(self, ms, events):
        ranks = 1 + max(event["tid"] for event in events)
        by_step = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0.0]))
        for event in events:
            step = event["args"]["step"]
            # A segment is what the others lie in.
            if event["cat"] == "segment" or step <= COLD:
                continue
            entry = by_step[step][kind_of(event), event["name"]]
            entry[0] += 1 / ranks
            entry[1] += event["dur"] / 1e3 / ranks
        self.runs.extend(by_step.values())
        self.steps.append(ms)

    @property
    def step_ms(self):
        return statistics.median(self.steps)

    def rows(self):
        """(kind, name, calls, ms), by kind, the longest of a kind first."""
        keys = {key for run in self.runs for key in run}
        rows = [
            (*key, run[key][0], statistics.median(r[key][1] if key in r else 0.0 for r in self.runs))
            for key in keys
            for run in [next(run for run in self.runs if key in run)]
        ]
        return sorted(rows, key=lambda row: (KINDS.index(row[0]), -row[3], row[1]))

    def by_kind(self):
        """Milliseconds of each kind that occurs, and of the rest."""
        sums = collections.Counter()
        for kind, _, _, ms in self.rows():
            sums[kind] += ms
        sums["rest"] = self.step_ms - sum(sums.values())
        return sums


def describe_gemm(name):
    """`2048x768x256 NT`: m, n, k and which operands are transposed."""
    _, batch, m, n, k, _, _, a_column, _, _, b_column, _, _, c_column = name.split()
    many = "" if batch == "1" else f"{batch} of "
    letters = "".join("N" if column == "1" else "T" for column in (a_column, b_column))
    return f"{many}{m}x{n}x{k} {letters}{' to T' if c_column != '1' else ''}"


def print_shares(shares, alone):
    """The table of a step; `alone`: milliseconds of each product by itself."""
    step = shares.step_ms
    print(f"{'what':<58} calls      ms  share    gap")

    def line(what, calls, ms, gap):
        print(f"{what[:58]:<58} {calls:>5} {ms:>7.2f} {ms / step:>6.1%} {gap:>6.2f}")

    for kind, total in shares.by_kind().items():
        for row_kind, name, calls, ms in shares.rows():
            if row_kind != kind:
                continue
            gap = ms - alone.get(name, 0.0) if kind == "gemm" else ms
            label = describe_gemm(name) if kind == "gemm" else name
            line(f"{kind} {label}", round(calls), ms, gap)
        gap = total - (sum(alone.values()) if kind == "gemm" else 0.0)
        line(f"  {kind} in all", "", total, gap)
    line("  step", "", step, step - sum(alone.values()))
