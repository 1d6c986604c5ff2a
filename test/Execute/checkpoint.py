# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints and bad input of compiled programs: training resumes bit for bit
on the same plan, any plan loads any other's, and what cannot be loaded or read
is an error with the user's names, exit 1."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import tensors


def run(*command, status=0):
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=300)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stderr


def refuse(text, *command):
    message = run(*command, status=1)
    lines = [line for line in message.splitlines() if line]
    if not any(text in line for line in lines):
        sys.exit(f"expected '{text}' in: {message[-1000:]}")


class Programs:
    def __init__(self, binaries, models, folder):
        self.binaries, self.folder = binaries, folder
        self.batch = folder / "batch.safetensors"
        tensors.write_batch(models / "gpt-2l.mlir", self.batch)
        self.one = self.compile(models / "gpt-2l.mlir", "one")
        self.four = self.compile(models / "gpt-2l.mlir", "four", "--mesh", "dp=2,tp=2",
                                 "--zero", "1")  # fmt: skip
        self.wide = self.compile(models / "gpt-2l.mlir", "wide", "--mesh", "dp=2,tp=2",
                                 "--zero", "1", "--precision", "f64")  # fmt: skip
        self.other = self.compile(models / "llama-2l.mlir", "other")

    def compile(self, model, name, *plan):
        program = self.folder / name
        run(self.binaries / "distc", model, "--optimizer", "eps=1e-4", *plan, "-o", program)
        return program

    def train(self, program, steps, *flags):
        out = self.folder / "dump.safetensors"
        run(program, "--inputs", self.batch, "--steps", steps, "--dump", out, *flags)
        return tensors.read(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="the folder of model files")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = Programs(options.bin, options.models, folder)
        saved = folder / "saved"
        # An initial value in f64 is that of the model, which is in f32.
        start, wide = programs.train(programs.one, 0), programs.train(programs.wide, 0)
        if any(list(values) != list(wide[name]) for name, values in start.items()):
            sys.exit("initial values in f64 differ from those of the model")
        for program in (programs.wide, programs.one, programs.four):
            whole = programs.train(program, 4)
            programs.train(program, 2, "--save", saved)
            if programs.train(program, 4, "--load", saved) != whole:
                sys.exit(f"{program.name}: resuming is not bit for bit")
        # Saved by four ranks, resumed by one, and the other way round.
        errors = tensors.errors(programs.train(programs.one, 4, "--load", saved), whole, 4, 3e-4)
        if max(errors.values()) > 2e-5:
            sys.exit(f"another plan's checkpoint: {max(errors.values()):.2e}")
        errors = tensors.errors(programs.train(programs.wide, 4, "--load", saved), whole, 4, 3e-4)
        if max(errors.values()) > 2e-5:
            sys.exit(f"a checkpoint in f32 loaded in f64: {max(errors.values()):.2e}")
        refuse("model.embed_tokens.weight", programs.other, "--inputs", programs.batch,
               "--steps", 4, "--load", saved)  # fmt: skip
        text = folder / "text.txt"
        text.write_text("ids of letters lie above this vocabulary of 48 " * 99)
        refuse("text.txt", programs.one, "--data", text, "--steps", 1)
        refuse("--steps", programs.one, "--inputs", programs.batch, "--steps", -1)
        truncated = folder / "short.safetensors"
        truncated.write_bytes(programs.batch.read_bytes()[:40])
        refuse("short.safetensors", programs.one, "--inputs", truncated, "--steps", 1)
    print("checkpoints resume and bad input is refused")


main()
