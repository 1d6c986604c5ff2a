# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models under plans with their one-device steps.

Without DIST_TEST_LONG a few plans stand for the grid: every pair of (model, dp),
(model, tp), (dp, tp), (zero, anything) occurs in one of them over all models.
"""

import argparse
import itertools
import os
import pathlib
import sys
import tempfile


from phases import ADAMW, SGD, Plan, Refused, Toolbox, check, legal

SIZES = (1, 2, 4)
OPTIMIZERS = {"sgd": SGD, "adamw": ADAMW}
# The batch of 8 does not divide over it.
REFUSED = (3, 1, 0, "sgd")


def grid():
    return list(itertools.product(SIZES, SIZES, (0, 1), sorted(OPTIMIZERS)))


def covering(number):
    """Three cells for model `number`: each dp and each tp once, in a pairing
    that turns from model to model, as do the other options."""
    for i, dp in enumerate(SIZES):
        tp = SIZES[(i + number) % 3]
        yield dp, tp, (i + number // 3) % 2, sorted(OPTIMIZERS)[(i + number // 2) % 2]


def cells_of(number):
    """The cells of model `number`: all, or a few that stand for them."""
    every = os.environ.get("DIST_TEST_LONG") == "1"
    return [*(grid() if every else covering(number)), REFUSED]


def run_cell(tools, model, cell):
    """What is wrong with one cell: nothing if it computes the step."""
    dp, tp, zero, optimizer = cell
    plan = Plan((("dp", dp), ("tp", tp)), zero)
    reason = legal.refusal(model.read_text(), plan)
    try:
        wrong = check(tools, model, OPTIMIZERS[optimizer], plan)
    except Refused as refused:
        if reason and reason in str(refused):
            return []
        return [f"is refused: {refused}"]
    return ["is accepted"] if reason else wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = cells = 0
    for number, model in enumerate(options.models):
        for cell in cells_of(number):
            cells += 1
            with tempfile.TemporaryDirectory() as folder:
                wrong = run_cell(Toolbox(options.bin, folder), model, cell)
            if wrong:
                failed += 1
                dp, tp, zero, optimizer = cell
                print(f"{model.stem} dp={dp} tp={tp} zero={zero} {optimizer}:")
                print("\n".join(f"  {line}" for line in wrong[:8]), flush=True)
    print(f"{cells} cells, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
