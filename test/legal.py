# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which plans may be refused for a model, and why; all others must work."""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Plan:
    """A mesh, as (axis, size) from major to minor, and the options beside it."""

    mesh: tuple = ()
    zero: int = 0

    def size(self, axis):
        return dict(self.mesh).get(axis, 1)

    def __str__(self):
        axes = ",".join(f"{name}={size}" for name, size in self.mesh)
        return f"mesh {axes or 'none'} zero {self.zero}"


ARGUMENT = re.compile(r"%[\w.$-]+\s*:\s*tensor<([0-9x]*)x?[a-z]\w*>\s*\{([^{}]*)\}")


def batch_sizes(model):
    """Sizes of the batch dimensions of the inputs of a model file's text."""
    for match in ARGUMENT.finditer(model):
        shape, attributes = match.groups()
        if "nn.input" not in attributes or "nn.no_batch" in attributes or not shape:
            continue
        dim = re.search(r"nn\.batch\s*=\s*(\d+)", attributes)
        yield int(shape.strip("x").split("x")[int(dim[1]) if dim else 0])


def refusal(model, plan):
    """Why `plan` may be refused for the text of a model, or None."""
    dp = plan.size("dp")
    for size in batch_sizes(model):
        if size % dp:
            return f"batch dimension 0 of size {size} does not divide over dp={dp}"
    return None
