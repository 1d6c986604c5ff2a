# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowers a model phase by phase and compares each phase with the step."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import legal  # noqa: E402
from legal import Plan  # noqa: E402

SGD = "name=sgd,momentum=0.9,weight_decay=0.1"
# With an eps of 1e-8 the division amplifies rounding without bound.
ADAMW = "name=adamw,eps=1e-4,clip_norm=0.5"


class Refused(Exception):
    """A tool ended with an error; the message is what it printed."""


def parse_mesh(text):
    """`dp=2,tp=4` as a mesh."""
    pairs = (axis.split("=") for axis in text.split(",") if axis)
    return tuple((name, int(size)) for name, size in pairs)


class Toolbox:
    """The tools of a build, writing into a folder."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = pathlib.Path(binaries), pathlib.Path(folder)

    def run(self, tool, *arguments):
        command = [str(self.binaries / tool), *map(str, arguments)]
        done = subprocess.run(command, text=True, capture_output=True, timeout=300)
        if done.returncode < 0 or "Stack dump" in done.stderr:
            raise AssertionError(f"{' '.join(command)} crashed:\n{done.stderr[:2000]}")
        if done.returncode:
            raise Refused(done.stderr[:2000] + done.stdout[-2000:])
        return done.stdout

    def lower(self, source, name, flag):
        target = self.folder / f"{name}.mlir"
        self.run("dist-opt", source, flag, "-o", target)
        return target

    def step(self, model, optimizer):
        """The one-device step of a model: what every other phase must equal."""
        return self.lower(model, "step", f"--dist-to-step=optimizer={optimizer}")

    def phases(self, model, optimizer, plan):
        """The files of all phases behind the step, by name."""
        mesh = ",".join(f"{axis}={size}" for axis, size in plan.mesh)
        options = f"optimizer={optimizer} mesh={mesh} zero={plan.zero}"
        sharded = self.lower(model, "sharded", f"--dist-to-sharded={options}")
        # The first pass of the phase local, whose result is still global.
        delayed = self.lower(sharded, "delayed", "--dist-delay-partials")
        local = self.lower(model, "local", f"--dist-to-local={options}")
        last = self.lower(model, "overlapped", f"--dist-to-overlapped={options}")
        return {"sharded": sharded, "delayed": delayed, "local": local, "overlapped": last}

    def differences(self, program, step, steps=5):
        """The largest difference of every result after some steps, by name."""
        out = self.run(
            *("dist-interp", program, "--against", step),
            *("--f64", "--steps", steps, "--tolerance", "inf"),
        )
        lines = (line.rsplit(": ", 1) for line in out.splitlines())
        return {name: float(value.split()[0]) for name, value in lines}


def check(tools, model, optimizer, plan, tolerance=1e-10):
    """Every result of every phase that is not equal to the step's."""
    wrong = []
    step = tools.step(model, optimizer)
    for phase, program in tools.phases(model, optimizer, plan).items():
        differences = tools.differences(program, step)
        if not any(name.startswith("param:") for name in differences):
            wrong.append(f"{phase}: no parameters were compared")
        wrong += [
            f"{phase}: {name} differs by {value:.3g}"
            for name, value in differences.items()
            if not value <= tolerance
        ]
    return wrong


__all__ = ["ADAMW", "SGD", "Plan", "Refused", "Toolbox", "check", "legal", "parse_mesh"]
