# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds mutated model files to a tool: every one must be taken or refused.

Any other end (a signal, an assertion, a stack trace, a hang) is a failure; the
mutant that caused it is printed. Mutants depend on `--seed` and their number
only, so a failure can be repeated.
"""

import argparse
import pathlib
import random
import re
import resource
import subprocess
import sys
import time

TOKEN = re.compile(r'"[^"\n]*"|[%@#!]?[\w.$]+|\s+|[^\w\s]')
SEPARATOR = "\n// -----\n"
BATCH = 16
MEMORY = 8 << 30
NUMBERS = ["0", "1", "2", "3", "7", "-1", "16", "48", "4294967296", "9223372036854775807",
           "99999999999999999999", "0.0", "-1.0", "1.0e300", "0x7FC00000"]  # fmt: skip
WORDS = ["tensor<f32>", "tensor<?xf32>", "tensor<0x4xf32>", "tensor<8x16xi32>", "f64",
         "bf16", "i1", "causal", "casual", "nn.param", "nn.no_batch", "nn.softmax", "{",
         "}", "(", ")", "->", '""', '"a b, b -> a"', '"(a b"', '"b s d -> d (b s)"',
         "array<i64: -1>", "dense<nan>", "%x", "unit"]  # fmt: skip
CRASHES = ("Assertion", "PLEASE submit a bug report", "Stack dump", "LLVM ERROR",
           "Sanitizer", "terminate called")  # fmt: skip


def mutate(text, rng, words=WORDS):
    """`text` with one to four of its tokens changed, some to `words`."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        index = rng.randrange(len(tokens))
        kind = rng.randrange(6)
        if kind == 0:
            numbers = [i for i, token in enumerate(tokens) if token[0].isdigit()]
            index = rng.choice(numbers or [index])
            tokens[index] = re.sub(
                r"\d+", lambda _: rng.choice(NUMBERS), tokens[index], 1
            )
        elif kind == 1:
            del tokens[index]
            tokens = tokens or [" "]
        elif kind == 2:
            tokens[index] = rng.choice(words)
        elif kind == 3:
            tokens[index] = rng.choice(tokens)
        elif kind == 4:
            tokens.insert(index, rng.choice(tokens))
        else:
            other = rng.randrange(len(tokens))
            tokens[index], tokens[other] = tokens[other], tokens[index]
    return "".join(tokens)


def limit_memory():
    """Absurd sizes end in an error, not in the machine's swap."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def verdict(command, text, seconds):
    """What is wrong with how `command` ended on `text`; or nothing."""
    try:
        result = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=seconds,
            preexec_fn=limit_memory,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no end within {seconds} s"
    output = (result.stderr + result.stdout).decode(errors="replace")
    if result.returncode not in (0, 1):
        return f"exit status {result.returncode}\n{output[-2000:]}"
    found = [mark for mark in CRASHES if mark in output]
    return f"{found[0]}\n{output[-2000:]}" if found else None


def run_batch(command, mutants, seconds):
    """A failure among `mutants` as (mutant, what is wrong); or nothing."""
    split = [*command, "--split-input-file"]
    problem = verdict(split, SEPARATOR.join(mutants), seconds)
    if problem is None:
        return None
    for mutant in mutants:
        alone = verdict(command, mutant, seconds)
        if alone is not None:
            return mutant, alone
    return SEPARATOR.join(mutants), problem


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--tool", required=True, help="dist-opt and its options")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    command = options.tool.split()
    texts = [path.read_text() for path in options.models]
    rng = random.Random(options.seed)
    end, count = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        mutants = [mutate(rng.choice(texts), rng) for _ in range(BATCH)]
        count += BATCH
        failure = run_batch(command, mutants, 60)
        if failure:
            print(failure[0], failure[1], sep="\n")
            return 1
    print(f"{count} mutants, no crash")
    return int(count == 0)


if __name__ == "__main__":
    sys.exit(main())
