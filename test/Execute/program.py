# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares one program under meshes with its one-device step; prints the last
local phase, for checks of its collectives."""

import argparse
import itertools
import pathlib
import sys
import tempfile

from phases import ADAMW, SGD, Plan, Toolbox, check, parse_mesh


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--mesh", action="append", required=True)
    parser.add_argument("--print", action="store_true")
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    failed = False
    plans = zip(options.mesh, itertools.cycle([(0, SGD), (1, ADAMW)]))
    for mesh, (zero, optimizer) in plans:
        plan = Plan(parse_mesh(mesh), zero)
        with tempfile.TemporaryDirectory() as folder:
            tools = Toolbox(options.bin, folder)
            wrong = check(tools, options.program, optimizer, plan)
            local = (pathlib.Path(folder) / "local.mlir").read_text()
        for line in wrong:
            print(f"{plan}: {line}", file=sys.stderr)
        failed |= bool(wrong)
    if options.print:
        print(local)
    return failed


if __name__ == "__main__":
    sys.exit(main())
