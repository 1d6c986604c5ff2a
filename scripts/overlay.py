#!/usr/bin/env python3
"""Prints the losses of training logs side by side, and how far they are apart.

usage: overlay.py LOG LOG...
"""

import json
import pathlib
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    paths = sys.argv[1:]
    logs = [read(path) for path in paths]
    names = [pathlib.Path(path).stem for path in paths]
    print("step  " + "  ".join(f"{name:>12}" for name in names))
    last = min(len(log) for log in logs)
    for index in sorted({0, last - 1, *range(19, last, 20)}):
        row = "  ".join(f"{log[index]['loss']:12.5f}" for log in logs)
        print(f"{logs[0][index]['step']:4}  {row}")
    apart = max(
        abs(log[index]["loss"] - logs[0][index]["loss"])
        for log in logs[1:]
        for index in range(last)
    )
    print(f"largest difference of the losses: {apart:.2e}")
    evals = [[e["eval_loss"] for e in log if "eval_loss" in e] for log in logs]
    if all(evals):
        print("eval loss, nats a byte: " + "  ".join(f"{e[-1]:.4f}" for e in evals))


main()
