# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes model files: values know their types, ops infer those of their results."""

import dataclasses
import math
import re


@dataclasses.dataclass(frozen=True)
class Value:
    """An SSA value; `name` includes the percent sign."""

    name: str
    shape: tuple
    element: str = "f32"

    @property
    def type(self):
        return f"tensor<{'x'.join([*map(str, self.shape), self.element])}>"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A trained tensor: its logical name, shape, initial value and decay."""

    name: str
    shape: tuple
    init: str
    decay: bool = True

    @property
    def attributes(self):
        text = f'nn.param = "{self.name}", nn.init = "{self.init}"'
        return text if self.decay else text + ", nn.no_decay"

    def prefixed(self, prefix):
        return dataclasses.replace(self, name=prefix + self.name)


def number(value):
    """`value` as an MLIR float literal, which always has a decimal point."""
    text = repr(float(value))
    if "." not in text:
        text = re.sub(r"(?=e|$)", ".0", text, count=1)
    return text


def attribute(value):
    """`value` as the text of an attribute."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{number(value)} : f32"
    return f"array<i64: {', '.join(map(str, value))}>"


def attribute_dict(attributes):
    """` {a = 1 : i64, b}`, where True stands for a unit attribute; or nothing."""
    items = [
        key if value is True else f"{key} = {attribute(value)}"
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    return f" {{{', '.join(items)}}}" if items else ""


def dimensions(side):
    """One side of a pattern, as a list of dimensions, each a list of names."""
    groups = re.findall(r"\(([^)]*)\)|(\S+)", side)
    return [(group or name).split() for group, name in groups]


def bind(side, shape, sizes):
    """Adds to `sizes` what matching `side` with `shape` says about names."""
    for names, size in zip(dimensions(side), shape, strict=True):
        unknown = [name for name in names if name not in sizes and name != "1"]
        known = math.prod(sizes.get(name, 1) for name in names)
        if len(unknown) > 1 or size % known or (not unknown and size != known):
            raise ValueError(f"({' '.join(names)}) does not match size {size}")
        if unknown:
            sizes[unknown[0]] = size // known


def pattern_shape(pattern, shapes, sizes):
    """The result's shape of an einops pattern on operands of `shapes`."""
    left, right = pattern.split("->")
    sizes = dict(sizes)
    for side, shape in zip(left.split(","), shapes, strict=True):
        bind(side, shape, sizes)
    return tuple(
        math.prod(sizes.get(name, 1) for name in names) for names in dimensions(right)
    )


class Function:
    """Text of one function, written op by op."""

    def __init__(self, name, private=False):
        self.name = name
        self.private = private
        self.arguments = []
        self.lines = []
        self.results = []
        self.uses = {}

    def fresh(self, hint):
        count = self.uses[hint] = self.uses.get(hint, 0) + 1
        return f"%{hint}" if count == 1 else f"%{hint}_{count - 1}"

    def argument(self, name, shape, element="f32", attributes=""):
        value = Value(self.fresh(name), tuple(shape), element)
        braces = f" {{{attributes}}}" if attributes else ""
        self.arguments.append(f"{value.name}: {value.type}{braces}")
        return value

    def parameter(self, parameter):
        return self.argument(parameter.name, parameter.shape, "f32", parameter.attributes)

    def op(self, head, operands, result, name):
        """Appends `head : (types) -> type`; `result` is (shape, element)."""
        value = Value(self.fresh(name), *result)
        types = ", ".join(operand.type for operand in operands)
        self.lines.append(f"{value.name} = {head} : ({types}) -> {value.type}")
        return value

    def nn(self, mnemonic, operands, result=None, name=None, groups=None, **attributes):
        """An nn op; `groups` are its optional operands by keyword.

        The result has the first operand's type unless `result` says otherwise.
        """
        names = ", ".join(operand.name for operand in operands)
        groups = {key: value for key, value in (groups or {}).items() if value}
        words = [f"nn.{mnemonic}", names]
        words += [f"{key}({value.name})" for key, value in groups.items()]
        head = " ".join(filter(None, words)) + attribute_dict(attributes)
        result = result or (operands[0].shape, operands[0].element)
        return self.op(head, [*operands, *groups.values()], result, name or mnemonic)

    def patterned(self, head, pattern, operands, shape, name, attributes=None):
        names = ", ".join(operand.name for operand in operands)
        head = f'{head} "{pattern}"({names}){attribute_dict(attributes or {})}'
        return self.op(head, operands, (shape, operands[0].element), name)

    def einsum(self, pattern, *operands, name):
        shape = pattern_shape(pattern, [x.shape for x in operands], {})
        return self.patterned("nn.einsum", pattern, operands, shape, name)

    def rearrange(self, pattern, x, name, **sizes):
        shape = pattern_shape(pattern, [x.shape], sizes)
        return self.patterned("nn.rearrange", pattern, [x], shape, name, sizes)

    def repeat(self, pattern, x, shape, name):
        return self.patterned("nn.repeat", pattern, [x], shape, name)

    def reduce(self, monoid, pattern, x, name):
        shape = pattern_shape(pattern, [x.shape], {})
        return self.patterned(f"nn.reduce {monoid}", pattern, [x], shape, name)

    def part(self, x, dim, start, limit, name):
        """Entries [start, limit) of `x` along `dim`."""
        starts = [start if i == dim else 0 for i in range(len(x.shape))]
        limits = [limit if i == dim else n for i, n in enumerate(x.shape)]
        shape = tuple(limit - start for start, limit in zip(starts, limits))
        strides = [1] * len(shape)
        return self.nn("slice", [x], (shape, x.element), name,
                       starts=starts, limits=limits, strides=strides)

    def elementwise(self, mnemonic, *operands, name):
        value = Value(self.fresh(name), operands[0].shape, operands[0].element)
        names = ", ".join(operand.name for operand in operands)
        self.lines.append(f"{value.name} = {mnemonic} {names} : {value.type}")
        return value

    def add(self, a, b, name):
        return self.elementwise("arith.addf", a, b, name=name)

    def constant(self, number_value, name, shape=()):
        value = Value(self.fresh(name), tuple(shape))
        text = f"arith.constant dense<{number(number_value)}> : {value.type}"
        self.lines.append(f"{value.name} = {text}")
        return value

    def call(self, function, operands, name):
        """A call of a function with one result."""
        (result,) = function.results
        head = f"func.call @{function.name}({', '.join(x.name for x in operands)})"
        return self.op(head, operands, (result.shape, result.element), name)

    def returns(self, *values):
        self.results = values
        names = ", ".join(value.name for value in values)
        types = ", ".join(value.type for value in values)
        self.lines.append(f"return {names} : {types}")

    def __str__(self):
        opening = f"func.func {'private ' if self.private else ''}@{self.name}("
        types = ", ".join(value.type for value in self.results)
        types = types if len(self.results) == 1 else f"({types})"
        indent = ",\n" + " " * len(opening)
        header = opening + indent.join(self.arguments) + f") -> {types} {{"
        return "\n".join([header, *("  " + line for line in self.lines), "}"]) + "\n"
