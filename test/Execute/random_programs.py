# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random small models under random meshes with their one-device steps.

A failure prints its seed; `--seed N` runs it again, with `--keep` its model is
printed too.
"""

import argparse
import os
import pathlib
import random
import re
import sys
import tempfile
import time

from phases import ADAMW, SGD, Plan, Refused, Toolbox, check, legal

SMOOTH = ("gelu", "silu", "sigmoid")
MESHES = ([("dp", 2)], [("tp", 2)], [("tp", 4)], [("dp", 2), ("tp", 2)], [("tp", 2), ("dp", 4)])


def tensor(shape):
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


class Model:
    """A model made of random steps on an activation `b s (h k)`."""

    def __init__(self, seed, mesh):
        self.random, self.mesh = random.Random(seed), mesh
        pick = self.random.choice
        self.batch, self.seq = pick((4, 8)), pick((1, 3, 4))
        self.heads, self.width = pick((2, 3, 4)), pick((2, 4, 6))
        self.hidden = self.heads * self.width
        self.lines, self.arguments, self.names = [], [], 0
        self.has_key = False

    def value(self, text):
        self.names += 1
        self.lines.append(f"  %{self.names} = {text}")
        return f"%{self.names}"

    def parameter(self, shape, init="normal 0.3"):
        name = f"%w{len(self.arguments)}"
        extra = self.random.choice(("", "", "", ", nn.no_decay", ", nn.frozen"))
        self.arguments.append(
            f'{name}: {tensor(shape)} {{nn.param = "{name[1:]}", nn.init = "{init}"{extra}}}'
        )
        return name

    @property
    def type(self):
        return tensor((self.batch, self.seq, self.hidden))

    def unary(self, x):
        return self.value(f"nn.{self.random.choice(SMOOTH)} {x} : ({self.type}) -> {self.type}")

    def norm(self, x):
        g = self.parameter((self.hidden,), "ones")
        return self.value(
            f"nn.rms_norm {x}, {g} {{eps = 1.0e-3 : f32}} : "
            f"({self.type}, {tensor((self.hidden,))}) -> {self.type}"
        )

    def project(self, x, out):
        shape = (self.hidden, out)
        w, y = self.parameter(shape), tensor((self.batch, self.seq, out))
        return self.value(
            f'nn.einsum "b s d, d e -> b s e"({x}, {w}) : ({self.type}, {tensor(shape)}) -> {y}'
        )

    def feedforward(self, x):
        ffn = self.random.choice((4, 8, 12, 16))
        up, wide = self.project(x, ffn), tensor((self.batch, self.seq, ffn))
        act = self.value(f"nn.gelu {up} : ({wide}) -> {wide}")
        w = self.parameter((ffn, self.hidden))
        return self.value(
            f'nn.einsum "b s e, e d -> b s d"({act}, {w}) : '
            f"({wide}, {tensor((ffn, self.hidden))}) -> {self.type}"
        )

    def gated(self, x):
        """Two halves of one projection."""
        both, wide = self.project(x, 2 * self.hidden), 2 * self.hidden
        source = tensor((self.batch, self.seq, wide))
        halves = [
            self.value(
                f"nn.slice {both} {{starts = array<i64: 0, 0, {start}>, "
                f"limits = array<i64: {self.batch}, {self.seq}, {start + self.hidden}>, "
                f"strides = array<i64: 1, 1, 1>}} : ({source}) -> {self.type}"
            )
            for start in (0, self.hidden)
        ]
        return self.value(f"arith.mulf {halves[0]}, {halves[1]} : {self.type}")

    def heads_mix(self, x):
        split = tensor((self.batch, self.heads, self.seq, self.width))
        h = self.value(
            f'nn.rearrange "b s (h k) -> b h s k"({x}) {{h = {self.heads} : i64}} : '
            f"({self.type}) -> {split}"
        )
        if self.random.random() < 0.5:
            h = self.value(
                f"nn.attention {h}, {h}, {h} {{causal, scale = 0.5 : f32}} : "
                f"({split}, {split}, {split}) -> {split}"
            )
        else:
            # Along the batch or the sequence nothing would be left of a bias.
            dim = self.random.choice((1, 3))
            h = self.value(f"nn.softmax {h} {{dim = {dim} : i64}} : ({split}) -> {split}")
        return self.value(f'nn.rearrange "b h s k -> b s (h k)"({h}) : ({split}) -> {self.type}')

    def reshaped(self, x):
        shape = tensor((self.batch * self.seq, self.hidden))
        flat = self.value(f"nn.reshape {x} : ({self.type}) -> {shape}")
        flat = self.value(f"math.tanh {flat} : {shape}")
        return self.value(f"nn.reshape {flat} : ({shape}) -> {self.type}")

    def shifted(self, x):
        """The sequence moved by one, from a slice and a concat."""
        if self.seq == 1:
            return x
        head, tail = ((self.batch, n, self.hidden) for n in (1, self.seq - 1))

        def cut(start, limit, shape):
            return self.value(
                f"nn.slice {x} {{starts = array<i64: 0, {start}, 0>, "
                f"limits = array<i64: {self.batch}, {limit}, {self.hidden}>, "
                f"strides = array<i64: 1, 1, 1>}} : ({self.type}) -> {tensor(shape)}"
            )

        a, b = cut(0, 1, head), cut(1, self.seq, tail)
        return self.value(
            f"nn.concat {b}, {a} {{dim = 1 : i64}} : "
            f"({tensor(tail)}, {tensor(head)}) -> {self.type}"
        )

    def scaled(self, x):
        """By a parameter of rank 0, or by a constant that differs."""
        if self.random.random() < 0.5:
            s, shape = self.parameter((), "ones"), tensor(())
            r = self.value(f'nn.repeat "-> b s d"({s}) : ({shape}) -> {self.type}')
            return self.value(f"arith.mulf {x}, {r} : {self.type}")
        return self.weighted(x)

    def weighted(self, x):
        """By a constant that differs along the last dimension."""
        shape = tensor((self.hidden,))
        values = ", ".join(f"{i / self.hidden + 0.5:.6e}" for i in range(self.hidden))
        s = self.value(f"arith.constant dense<[{values}]> : {shape}")
        r = self.value(f'nn.repeat "d -> b s d"({s}) : ({shape}) -> {self.type}')
        return self.value(f"arith.mulf {x}, {r} : {self.type}")

    def constrained(self, x):
        """Each axis on the batch, on the sequence or on nothing, as it fits."""
        sizes, dims = [self.batch, self.seq], ([], [], [])
        for name, size in self.random.sample(self.mesh, len(self.mesh)):
            dim = self.random.randrange(3)
            if dim < 2 and sizes[dim] % size == 0:
                sizes[dim] //= size
                dims[dim].append(f'"{name}"')
        text = ", ".join(f"[{', '.join(axes)}]" for axes in dims)
        return self.value(f"dist.constraint {x} <@mesh, [{text}]> : {self.type}")

    def constrained_in_part(self, x):
        """The batch over a part of an axis of four."""
        names = [name for name, size in self.mesh if size == 4]
        if not names:
            return x
        part = f'"{names[0]}":({self.random.choice((1, 2))})2'
        return self.value(f"dist.constraint {x} <@mesh, [[{part}], [], []]> : {self.type}")

    def normalized(self, x):
        g, b = self.parameter((self.hidden,), "ones"), self.parameter((self.hidden,), "zeros")
        vector = tensor((self.hidden,))
        return self.value(
            f"nn.layer_norm {x}, {g}, {b} {{eps = 1.0e-3 : f32}} : "
            f"({self.type}, {vector}, {vector}) -> {self.type}"
        )

    def reversed(self, x):
        dim = self.random.randrange(3)
        return self.value(
            f"nn.reverse {x} {{dims = array<i64: {dim}>}} : ({self.type}) -> {self.type}"
        )

    def padded(self, x):
        """Columns of zeros in front, as many dropped behind."""
        shift = self.random.randrange(1, self.hidden)
        wide = tensor((self.batch, self.seq, self.hidden + shift))
        y = self.value(
            f"nn.pad {x} {{low = array<i64: 0, 0, {shift}>, high = array<i64: 0, 0, 0>, "
            f"value = 0.0 : f32}} : ({self.type}) -> {wide}"
        )
        return self.value(
            f"nn.slice {y} {{starts = array<i64: 0, 0, 0>, "
            f"limits = array<i64: {self.batch}, {self.seq}, {self.hidden}>, "
            f"strides = array<i64: 1, 1, 1>}} : ({wide}) -> {self.type}"
        )

    def dropped(self, x):
        self.has_key = True
        folded = self.value(
            f"nn.fold_in %key {{data = {self.names} : i64}} : (tensor<2xi32>) -> tensor<2xi32>"
        )
        return self.value(
            f"nn.dropout {x}, {folded} {{rate = 0.25 : f32}} : "
            f"({self.type}, tensor<2xi32>) -> {self.type}"
        )

    def rotated(self, x):
        """RoPE on heads of an even width."""
        if self.width % 2:
            return x
        split = tensor((self.batch, self.heads, self.seq, self.width))
        positions = f"tensor<{self.seq}xi32>"
        h = self.value(
            f'nn.rearrange "b s (h k) -> b h s k"({x}) {{h = {self.heads} : i64}} : '
            f"({self.type}) -> {split}"
        )
        p = self.value(f"nn.iota {{dim = 0 : i64}} : () -> {positions}")
        h = self.value(
            f"nn.rope {h}, {p} {{theta = 1.0e4 : f32}} : ({split}, {positions}) -> {split}"
        )
        return self.value(f'nn.rearrange "b h s k -> b s (h k)"({h}) : ({split}) -> {self.type}')

    def without_mesh(self, text):
        """The same model for one device."""
        lines = [line for line in text.splitlines() if not line.startswith("dist.mesh")]
        text, alias = "\n".join(lines), {}
        pattern = r"  (%\d+) = dist\.constraint (%\w+) .*\n"
        for result, operand in re.findall(pattern, text):
            alias[result] = alias.get(operand, operand)
        text = re.sub(pattern, "", text)
        return re.sub(r"%\d+", lambda m: alias.get(m.group(0), m.group(0)), text) + "\n"

    def text(self):
        steps = (
            *(self.unary, self.norm, self.feedforward, self.gated, self.heads_mix),
            *(self.reshaped, self.shifted, self.scaled, self.constrained),
            *(self.constrained_in_part, self.normalized, self.reversed, self.padded),
            *(self.dropped, self.rotated),
            lambda x: self.project(x, self.hidden),
        )
        x = "%x"
        for _ in range(self.random.randint(2, 6)):
            y = self.random.choice(steps)(x)
            residual = y != x and self.random.random() < 0.5
            x = self.value(f"arith.addf {x}, {y} : {self.type}") if residual else y
        # Unequal weights: of what was normalized the plain sums are constant.
        x = self.weighted(x)
        kind = self.random.choice(("max", "sum", "mean"))
        rows = tensor((self.batch, self.seq))
        r = self.value(f'nn.reduce {kind} "b s d -> b s"({x}) : ({self.type}) -> {rows}')
        square = self.value(f"arith.mulf {r}, {r} : {rows}")
        loss = self.value(f'nn.reduce mean "b s ->"({square}) : ({rows}) -> tensor<f32>')
        self.parameter((self.hidden, self.hidden))  # the loss does not reach it
        key = ["%key: tensor<2xi32> {nn.key}"] if self.has_key else []
        arguments = ", ".join([f'%x: {self.type} {{nn.input = "x"}}', *self.arguments, *key])
        body = "\n".join(self.lines)
        axes = ", ".join(f'"{name}"={size}' for name, size in self.mesh)
        return (
            f"dist.mesh @mesh <[{axes}]>\nfunc.func @loss({arguments}) -> tensor<f32> {{\n"
            f"{body}\n  return {loss} : tensor<f32>\n}}\n"
        )


def run_seed(tools, seed):
    """The model, the plan, and what is wrong with them."""
    choice = random.Random(seed + 1)
    plan = Plan(tuple(choice.choice(MESHES)), choice.randint(0, 1))
    model = Model(seed, plan.mesh).text()
    path = tools.folder / "model.mlir"
    path.write_text(model)
    reason = legal.refusal(model, plan)
    try:
        wrong = check(tools, path, choice.choice((SGD, ADAMW)), plan, 1e-9)
    except (Refused, AssertionError) as error:
        return model, plan, [] if reason and reason in str(error) else [f"stops: {error}"]
    return model, plan, ["is accepted"] if reason else wrong


def main(run_seed, description, seconds):
    """Runs seeds for some seconds, or the one that is asked for. `run_seed` gives
    None for what is wrong with a model that cannot be compared."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    seconds = 600 if os.environ.get("DIST_TEST_LONG") == "1" else options.seconds
    end = time.monotonic() + seconds
    seed, runs, failed, left = options.seed or 0, 0, 0, 0
    while runs == 0 or (options.seed is None and time.monotonic() < end):
        with tempfile.TemporaryDirectory() as folder:
            model, plan, wrong = run_seed(Toolbox(options.bin, folder), seed)
        left += wrong is None
        if wrong:
            failed += 1
            print(f"seed {seed}, {plan}:", *wrong[:4], sep="\n  ", flush=True)
        if options.keep:
            print(model)
        seed, runs = seed + 1, runs + 1
    print(f"{runs} programs, {failed} failed, {left} left out")
    return failed != 0 or 2 * left > runs


if __name__ == "__main__":
    sys.exit(main(run_seed, __doc__, 20))
