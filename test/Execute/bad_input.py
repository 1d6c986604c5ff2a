# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input of compiled programs: a line with the user's names, exit status 1,
and every file as it was."""

import argparse
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import hostile
import tensors

SHAPE = [4, 6]
SHARD = "model-00001-of-00001.safetensors"
INDEX = "model.safetensors.index.json"


def run(*command, file_bytes=None):
    """Runs to the end; with `file_bytes`, no file may become longer."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.run(
        [*map(str, command)], text=True, capture_output=True, timeout=300,
        preexec_fn=limit if file_bytes is not None else None,
    )  # fmt: skip


def snapshot(folder):
    """Every file under a folder, by its path."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Bench:
    """Programs of one model under several plans, in a folder."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        model = pathlib.Path(__file__).parent / "Inputs" / "bigram.mlir"
        self.model, self.programs, self.count = model, [], 0
        for number, plan in enumerate(([], ["--mesh", "dp=2,tp=2", "--zero", "1"])):
            program = folder / f"train{number}"
            self.accept(binaries / "distc", model, *plan, "-o", program)
            self.programs.append(program)
        self.batch = folder / "batch.safetensors"
        self.write_batch(self.batch)

    def write_batch(self, path, **changed):
        values = {
            "tokens": ("I32", SHAPE, [i * 7 % 16 for i in range(24)]),
            "targets": ("I32", SHAPE, [i * 5 % 16 for i in range(24)]),
            "weights": ("F32", SHAPE, [1.0 + i / 24 for i in range(24)]),
        }
        values.update(changed)
        tensors.write(path, {name: value for name, value in values.items() if value})

    def accept(self, *command):
        done = run(*command)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-2000:]}")

    def refuse(self, text, *command, file_bytes=None, status=1, changes=()):
        """One line of error with `text` in it; only `changes` may change."""
        before = snapshot(self.folder)
        done = run(*command, file_bytes=file_bytes)
        after = snapshot(self.folder)
        for path in changes:
            before.pop(path, None)
            after.pop(path, None)
        shown = f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr[-1000:]}"
        lines = done.stderr.splitlines()
        if done.returncode != status or not any("error: " in line and text in line for line in lines):
            sys.exit(f"expected '{text}' and status {status} of {shown}")
        if len(lines) != 1:
            sys.exit(f"expected one line of {shown}")
        if before != after:
            changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
            sys.exit(f"{sorted(map(str, changed))} changed by {shown}")
        self.count += 1


def check_inputs(bench, program):
    """Files of --inputs."""
    bad = bench.folder / "bad.safetensors"

    def refuse(text):
        bench.refuse(text, program, "--inputs", bad, "--steps", 1, "--dump", bench.folder / "out")

    for blob, text in hostile.hostile_files(bench.batch.read_bytes()):
        bad.write_bytes(blob)
        refuse(text)
        refuse("bad.safetensors")
    floats = [0.0] * 24
    for changed, text in (
        ({"tokens": None}, "input 'tokens' comes from nowhere"),
        ({"tokens": ("F32", SHAPE, floats)}, "'tokens' is f32; expected i32"),
        ({"weights": ("I32", SHAPE, [0] * 24)}, "'weights' is i32; expected f32"),
        ({"targets": ("I32", [6, 4], [0] * 24)}, "input 'targets' is 6x4, expected 4x6"),
        ({"tokens": ("I64", SHAPE, [0] * 23 + [2**33])}, "'tokens' holds 8589934592 at element 23"),
    ):
        bench.write_batch(bad, **changed)
        refuse(text)
    for value in (16, -1, 2**31 - 1):
        for name in ("tokens", "targets"):
            bench.write_batch(bad, **{name: ("I32", SHAPE, [0] * 20 + [value] + [0] * 3)})
            refuse(f"step 1: ")
            refuse(f" is {value} at row ")
    bench.refuse("none.safetensors", program, "--inputs", "none.safetensors", "--steps", 1)
    bench.refuse("folder", program, "--inputs", bench.folder, "--steps", 1)


def check_data(bench, program):
    """Tokens of --data."""
    common = ["--inputs", bench.batch, "--steps", 9, "--save", bench.folder / "never"]
    # The weights stay those of --inputs; tokens and targets come from the data.
    only = bench.folder / "weights.safetensors"
    bench.write_batch(only, tokens=None, targets=None)
    common[1] = only
    for name, width, place in (("text.txt", 1, 60), ("ids.bin", 2, 61), ("ids.u32", 4, 62)):
        path = bench.folder / name
        ids = [i % 16 for i in range(80)]
        ids[place] = 99
        path.write_bytes(b"".join(i.to_bytes(width, "little") for i in ids))
        bench.refuse(f"{name}': token 99 at byte offset {place * width} (token {place}); "
                     "expected 0 to 15", program, "--data", path, *common)  # fmt: skip
        path.write_bytes(b"\1" * width * 3)
        bench.refuse(f"{name}", program, "--data", path, *common)
        if width > 1:
            path.write_bytes(b"\1" * (width * 80 - 1))
            bench.refuse(f"{name}' has", program, "--data", path, *common)
        path.unlink()
    bench.refuse("none.bin", program, "--data", bench.folder / "none.bin", *common)


def check_checkpoints(bench, program):
    """Folders of --load."""
    good, bad = bench.folder / "good", bench.folder / "bad"
    bench.accept(program, "--inputs", bench.batch, "--steps", 2, "--save", good)

    def refuse(text, flag="--load"):
        bench.refuse(text, program, "--inputs", bench.batch, "--steps", 3, flag, bad,
                     "--save", good)  # fmt: skip

    shutil.copytree(good, bad)
    for blob, text in hostile.hostile_files((good / SHARD).read_bytes()):
        (bad / SHARD).write_bytes(blob)
        refuse(text)
        refuse(SHARD, "--load-params")
    shutil.copy(good / SHARD, bad / SHARD)
    header, data = hostile.split((good / SHARD).read_bytes())
    wte = header["wte.weight"]
    for changes, text in (
        ({"wte.weight": {**wte, "shape": [8, 16]}}, "'wte.weight' in"),
        ({"wte.weight": {**wte, "dtype": "I32"}}, "'wte.weight' in"),
        ({"__metadata__": {}}, "does not say its step"),
        ({"__metadata__": {**header["__metadata__"], "step": "-3"}}, "does not say its step"),
        ({"__metadata__": {**header["__metadata__"], "step": "9" * 30}}, "does not say its step"),
    ):
        (bad / SHARD).write_bytes(hostile.pack({**header, **changes}, data))
        refuse(text)
    shutil.copy(good / SHARD, bad / SHARD)
    index = (good / INDEX).read_text()
    for text, message in (
        (index[:-4], "not JSON"),
        ("[" * 1_000_000, "not JSON"),
        ("[]", "expected an object with a 'weight_map'"),
        (index.replace(SHARD, "../good/" + SHARD), "a file in the same folder"),
        (index.replace(SHARD, "other.safetensors"), "other.safetensors"),
        (index.replace('"head.weight"', '"tail.weight"'), "tail.weight"),
    ):
        (bad / INDEX).write_text(text)
        refuse(message)
    shutil.rmtree(bad)
    refuse("bad")
    shutil.rmtree(good)


def check_full_disk(bench, program):
    """Whatever is written when the disk is full, what was there stays."""
    saved, dump, log = (bench.folder / name for name in ("saved", "dump", "log"))
    files = ["--inputs", bench.batch, "--save", saved, "--dump", dump]
    bench.accept(program, *files, "--steps", 2)
    size = (saved / SHARD).stat().st_size
    for limit in (0, 8, 300, size // 2, size - 1):
        bench.refuse("File too large", program, *files, "--steps", 3, file_bytes=limit)
        bench.refuse("dump", program, *files[:2], *files[4:], "--steps", 3,
                     file_bytes=min(limit, dump.stat().st_size - 1))  # fmt: skip
    trace = bench.folder / "trace"
    trace.write_text("old")
    bench.refuse("trace", program, *files[:2], "--trace", trace, "--steps", 3, file_bytes=100)
    log.write_text("")
    bench.refuse("log", program, *files[:2], "--log", log, "--steps", 9, file_bytes=1000,
                 changes=[log])  # fmt: skip
    lines = log.read_text().splitlines(keepends=True)
    if len(lines) < 2 or not all(line.endswith("}\n") for line in lines):
        sys.exit(f"a log of a full disk: {log.read_text()}")
    bench.accept(program, *files, "--load", saved, "--steps", 3)
    for path in (dump, log, trace):
        path.unlink()
    shutil.rmtree(saved)


def check_usage(bench, program):
    for flags, text in (
        (["--steps", -1], "--steps is '-1', expected an integer from 0"),
        (["--steps", "9" * 30], "--steps is"),
        (["--steps", 1, "--save-every", 0], "--save-every is '0'"),
        (["--steps", 1, "--lr", "nan"], "--lr is 'nan'"),
        (["--steps", 1, "--warmup", -2], "--warmup is '-2'"),
        (["--steps", 1, "--seed", -2], "--seed is '-2'"),
        (["--steps", 1, "--dump", bench.folder], "expected a file"),
        (["--steps", 1, "--dump", bench.folder / "none" / "out"], "No such file"),
        (["--steps", 1, "--save", bench.batch], "it is not a folder"),
    ):
        bench.refuse(text, program, "--inputs", bench.batch, *flags)


def check_compiler(bench):
    """The compiler on a full disk: an older program or report stays."""
    for out in (["-o"], ["--emit", "local", "-o"], ["--dry-run", "--report"]):
        path = bench.folder / "old"
        path.write_text("old")
        bench.refuse("old", bench.binaries / "distc", bench.model, *out, path, file_bytes=100)
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(options.bin, pathlib.Path(name))
        for program in bench.programs:
            for check in (check_usage, check_inputs, check_data, check_checkpoints,
                          check_full_disk):  # fmt: skip
                check(bench, program)
        check_compiler(bench)
    print(f"{bench.count} refusals")


main()
