# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes programs of single ops: their results as metrics, or their gradients."""

import string

import numpy as np

from dist.models.text import Value, attribute_dict

ELEMENTS = {"float64": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}


def value_of(name, array):
    return Value(name, array.shape, ELEMENTS[str(array.dtype)])


def op_text(case, operands, groups, results):
    """The text of `case` on values."""
    if case.template:
        types = {f"t{i}": value.type for i, value in enumerate(operands)}
        names = [value.name for value in operands]
        return case.template.format(*names, t=results[0].type, **types)
    listed = ", ".join(value.name for value in operands)
    words = [f"nn.{case.op}", f"{case.head}({listed})" if case.head else listed]
    words += [f"{key}({value.name})" for key, value in groups.items()]
    head = " ".join(filter(None, words)) + attribute_dict(case.attributes)
    types = ", ".join(value.type for value in [*operands, *groups.values()])
    result = ", ".join(value.type for value in results)
    result = f"({result})" if len(results) > 1 else result
    return f"{head} : ({types}) -> {result}"


class Program:
    """A module with an `@loss` that computes cases on arguments of their own.

    `tensors` holds the arguments' values by name, `texts` the text of each case.
    """

    def __init__(self, cases):
        self.tensors, self.texts = {}, []
        self.arguments, self.lines = [], []
        for number, case in enumerate(cases):
            self.add(number, case)

    def argument(self, name, array, attributes):
        value = value_of(f"%{name}", array)
        self.tensors[name] = np.array(array, order="C")
        self.arguments.append(f"{value.name}: {value.type} {{{attributes}}}")
        return value

    def input(self, name, array):
        return self.argument(name, array, f'nn.input = "{name}", nn.no_batch')

    def operand(self, name, array):
        return self.input(name, array)

    def add(self, number, case):
        operands = [
            self.operand(f"c{number}_{i}", x) for i, x in enumerate(case.operands)
        ]
        groups = {
            key: self.operand(f"c{number}_{key}", x) for key, x in case.groups.items()
        }
        arrays = case.results()
        several = len(arrays) > 1
        results = [
            value_of(f"%r{number}" + (f"#{i}" if several else ""), array)
            for i, array in enumerate(arrays)
        ]
        text = op_text(case, operands, groups, results)
        self.texts.append(text)
        count = f":{len(results)}" if several else ""
        self.lines.append(f"%r{number}{count} = {text}")
        for i, (value, array) in enumerate(zip(results, arrays)):
            self.result(f"{number}_{i}", value, array)

    def result(self, name, value, array):
        """Says what becomes of a result of a case."""
        raise NotImplementedError

    def module(self, loss, metrics=()):
        """The text, where `metrics` are pairs of a name and a value."""
        marked = [f'{value.type} {{nn.metric = "{name}"}}' for name, value in metrics]
        values = [value for _, value in metrics]
        names = ", ".join([loss, *(value.name for value in values)])
        types = ", ".join(["tensor<f32>", *(value.type for value in values)])
        return "\n".join([
            f"func.func @loss({', '.join(self.arguments)})",
            f"    -> ({', '.join(['tensor<f32>', *marked])}) {{",
            "  %zero = arith.constant dense<0.0> : tensor<f32>",
            *("  " + line for line in self.lines),
            f"  return {names} : {types}",
            "}\n",
        ])  # fmt: skip


class ForwardProgram(Program):
    """Results are metrics, `expected` says which value each must have."""

    def __init__(self, cases):
        self.expected, self.metrics = {}, []
        super().__init__(cases)

    def result(self, name, value, array):
        self.expected[name] = array
        self.metrics.append((name, value))

    def __str__(self):
        return self.module("%zero", self.metrics)


class GradientProgram(Program):
    """The loss is the sum of all floating results times `weights`; floating
    operands are parameters."""

    def __init__(self, cases):
        self.trained, self.weights, self.total = set(), {}, "%zero"
        super().__init__(cases)

    def operand(self, name, array):
        if array.dtype != float or not np.isfinite(array).all():
            return self.input(name, array)
        self.trained.add(name)
        return self.argument(name, array, f'nn.param = "{name}"')

    def result(self, name, value, array):
        if array.dtype != float:
            return
        generator = np.random.default_rng(len(self.weights))
        weights = generator.standard_normal(array.shape).astype(np.float32)
        self.weights[name] = weights.astype(float)
        weight = self.input(f"w{name}", np.asarray(self.weights[name]))
        self.lines.append(
            f"%p{name} = arith.mulf {value.name}, {weight.name} : {value.type}"
        )
        pattern = " ".join(string.ascii_lowercase[: array.ndim]) + " ->"
        self.lines.append(
            f'%s{name} = nn.reduce sum "{pattern}"(%p{name})'
            f" : ({value.type}) -> tensor<f32>"
        )
        self.lines.append(f"%t{name} = arith.addf {self.total}, %s{name} : tensor<f32>")
        self.total = f"%t{name}"

    def __str__(self):
        return self.module(self.total)
