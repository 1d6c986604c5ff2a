"""Runs every ```mlir block of a documentation page through dist-opt.

usage: blocks.py DIST_OPT PAGE...
"""

import re
import subprocess
import sys


def main():
    dist_opt, *pages = sys.argv[1:]
    failures = count = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for match in re.finditer(r"```mlir\n(.*?)```", text, re.DOTALL):
            count += 1
            line = text[: match.start(1)].count("\n") + 1
            run = subprocess.run(
                [dist_opt, "-"], input=match.group(1), text=True, capture_output=True
            )
            if run.returncode:
                failures += 1
                print(f"{page}:{line}: dist-opt refuses this block\n{run.stderr}")
    print(f"{count} blocks, {failures} refused")
    return 1 if failures or not count else 0


sys.exit(main())
