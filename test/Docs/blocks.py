"""Runs every ```mlir block of documentation pages through dist-opt. A block whose
first line is `// dist-opt FLAGS` runs with these; any other is parsed, verified
and printed.

usage: blocks.py DIST_OPT PAGE...
"""

import re
import shlex
import subprocess
import sys

COMMAND = "// dist-opt "


def get_flags(block):
    first = block.splitlines()[0]
    return shlex.split(first[len(COMMAND) :]) if first.startswith(COMMAND) else []


def main():
    dist_opt, *pages = sys.argv[1:]
    failures = count = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for match in re.finditer(r"```mlir\n(.*?)```", text, re.DOTALL):
            count += 1
            block = match.group(1)
            line = text[: match.start(1)].count("\n") + 1
            command = [dist_opt, "-", *get_flags(block)]
            run = subprocess.run(command, input=block, text=True, capture_output=True)
            if run.returncode:
                failures += 1
                print(f"{page}:{line}: dist-opt refuses this block\n{run.stderr}")
    print(f"{count} blocks, {failures} refused")
    return 1 if failures or not count else 0


sys.exit(main())
