# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every pass of ours alone, and every tail of the pipeline, on modules that
are no models: each ends with a program or with an error, never with a crash.

usage: alone.py DIST_OPT MODULES.mlir
"""

import re
import subprocess
import sys

CRASHES = ("Assertion", "PLEASE submit a bug report", "Stack dump", "LLVM ERROR",
           "Sanitizer", "terminate called", "UNREACHABLE")  # fmt: skip
SEPARATOR = "\n// -----\n"


def passes(dist_opt):
    """The arguments of all passes, as `--help` lists them."""
    text = subprocess.run([dist_opt, "--help"], text=True, capture_output=True).stdout
    listed = text[text.index("Passes:") : text.index("Pass Pipelines:")]
    return re.findall(r"^\s+--(dist-(?!test-)[\w-]+)", listed, re.M)


def tails(dist_opt):
    """What is left of the pipeline when its first passes are not run."""
    dump = subprocess.run(
        [dist_opt, "--dist-to-runtime=mesh=dp=2,tp=2", "--dump-pass-pipeline", "-"],
        input="", text=True, capture_output=True,
    ).stderr  # fmt: skip
    parts, nested = [], False
    for line in dump[dump.index("builtin.module(") :].splitlines()[1:]:
        name = line.strip().rstrip(",")
        if not name:
            break
        nested = name.startswith("func.func(") or (nested and name != ")")
        if not name.startswith("func.func(") and name != ")":
            parts.append(f"func.func({name})" if nested else name)
    for start in range(1, len(parts)):
        yield f"builtin.module({','.join(parts[start:])})"


def verdict(command, text):
    """What is wrong with how `command` ended on `text`; or nothing."""
    try:
        result = subprocess.run(command, input=text.encode(), capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "no end"
    output = (result.stderr + result.stdout).decode(errors="replace")
    if result.returncode not in (0, 1):
        return f"exit status {result.returncode}\n{output[-2000:]}"
    found = [mark for mark in CRASHES if mark in output]
    return f"{found[0]}\n{output[-2000:]}" if found else None


def main():
    dist_opt, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    modules = text.split(SEPARATOR)
    commands = [[dist_opt, f"--{name}"] for name in passes(dist_opt)]
    commands += [[dist_opt, f"--pass-pipeline={tail}"] for tail in tails(dist_opt)]
    crashes = 0
    for command in commands:
        if verdict([*command, "--split-input-file"], text) is None:
            continue
        for number, module in enumerate(modules):
            problem = verdict(command, module)
            if problem:
                crashes += 1
                print(f"{' '.join(command[1:])} on module {number}:\n{module}\n{problem}")
    print(f"{len(commands)} runs on {len(modules)} modules, {crashes} crashes")
    return int(crashes > 0 or len(commands) < 40)


if __name__ == "__main__":
    sys.exit(main())
