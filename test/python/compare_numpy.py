# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the interpreter with NumPy on every op: one program per op."""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from numpy_cases import all_cases
from safetensors.numpy import load_file, save_file
from upstream_cases import upstream_cases

from dist.models.text import Value, attribute_dict

ELEMENTS = {"float64": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}
TOLERANCES = {"f64": 1e-12, "f32": 2e-5}


def value_of(name, array):
    return Value(name, array.shape, ELEMENTS[str(array.dtype)])


class Program:
    """A module whose `@loss` computes all cases of one op as metrics."""

    def __init__(self, cases):
        self.inputs, self.expected = {}, {}
        self.arguments, self.lines, self.returned = [], [], []
        for number, case in enumerate(cases):
            self.add(number, case)

    def input(self, name, array):
        value = value_of(f"%{name}", array)
        self.inputs[name] = np.ascontiguousarray(array)
        self.arguments.append(
            f'{value.name}: {value.type} {{nn.input = "{name}", nn.no_batch}}'
        )
        return value

    def add(self, number, case):
        operands = [
            self.input(f"c{number}_{i}", array) for i, array in enumerate(case.operands)
        ]
        groups = {
            key: self.input(f"c{number}_{key}", array)
            for key, array in case.groups.items()
        }
        results = [
            value_of(f"%r{number}" + (f"#{i}" if len(case.results) > 1 else ""), array)
            for i, array in enumerate(case.results)
        ]
        count = f":{len(results)}" if len(results) > 1 else ""
        text = self.op_text(case, operands, groups, results)
        self.lines.append(f"%r{number}{count} = {text}")
        for i, (value, array) in enumerate(zip(results, case.results)):
            self.expected[f"{number}.{i}"] = (array, text)
            self.returned.append(value)

    def op_text(self, case, operands, groups, results):
        types = ", ".join(value.type for value in [*operands, *groups.values()])
        if case.template:
            named = {f"t{i}": value.type for i, value in enumerate(operands)}
            names = [value.name for value in operands]
            return case.template.format(*names, t=results[0].type, **named)
        listed = ", ".join(value.name for value in operands)
        words = [f"nn.{case.op}"]
        words.append(f"{case.head}({listed})" if case.head else listed)
        words += [f"{key}({value.name})" for key, value in groups.items()]
        head = " ".join(filter(None, words)) + attribute_dict(case.attributes)
        result = ", ".join(value.type for value in results)
        result = f"({result})" if len(results) > 1 else result
        return f"{head} : ({types}) -> {result}"

    def __str__(self):
        names = list(self.expected)
        metrics = [
            f'{value.type} {{nn.metric = "{name}"}}'
            for name, value in zip(names, self.returned)
        ]
        values = ", ".join(["%zero", *(value.name for value in self.returned)])
        types = ", ".join(["tensor<f32>", *(value.type for value in self.returned)])
        return "\n".join([
            f"func.func @loss({', '.join(self.arguments)})",
            f"    -> ({', '.join(['tensor<f32>', *metrics])}) {{",
            "  %zero = arith.constant dense<0.0> : tensor<f32>",
            *("  " + line for line in self.lines),
            f"  return {values} : {types}",
            "}\n",
        ])  # fmt: skip


def error(found, expected, floating):
    """Largest difference, relative to the largest entry (at least 1)."""
    if found.shape != expected.shape:
        return np.inf
    if not expected.size:
        return 0.0
    if not floating:
        return 0.0 if np.array_equal(found, expected) else np.inf
    difference = np.abs(found.astype(float) - expected).max()
    return difference / max(1.0, np.abs(expected).max())


def run(interp, program, precision, folder):
    """The results of `program` by name, or the text of what went wrong."""
    model, inputs, outputs = (
        folder / name for name in ("m.mlir", "in.safetensors", "out.safetensors")
    )
    model.write_text(str(program))
    floats = np.float64 if precision == "f64" else np.float32
    save_file(
        {
            name: array.astype(floats) if array.dtype == float else array
            for name, array in program.inputs.items()
        },
        inputs,
    )
    command = [
        interp,
        model,
        "--entry",
        "loss",
        "--inputs",
        inputs,
        "--outputs",
        outputs,
    ]
    command += ["--f64"] if precision == "f64" else []
    result = subprocess.run(command, text=True, capture_output=True)
    return load_file(outputs) if result.returncode == 0 else result.stderr


def compare(interp, op, cases, precision, folder):
    """The number of results of `op` that differ; says which."""
    program = Program(cases)
    results = run(interp, program, precision, folder)
    if isinstance(results, str):
        print(f"{op}: {results}")
        return len(program.expected)
    wrong = 0
    for name, (expected, text) in program.expected.items():
        if name not in results:
            print(f"{op}: no result {name} of {text}")
            wrong += 1
            continue
        floating = expected.dtype == float
        found = error(results[name], expected, floating)
        if not found <= TOLERANCES[precision]:
            print(f"{op}: error {found:.3g} ({precision}) in {text}")
            wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interp", required=True, help="path of dist-interp")
    parser.add_argument("--ops", help="only these, separated by commas")
    parser.add_argument("--except", dest="excluded", default="", help="not these")
    parser.add_argument("--precision", choices=list(TOLERANCES), default="f64")
    parser.add_argument("--print", action="store_true", help="print the programs")
    options = parser.parse_args()
    by_op = collections.defaultdict(list)
    for case in all_cases() + upstream_cases():
        by_op[case.label].append(case)
    wanted = options.ops.split(",") if options.ops else list(by_op)
    wrong = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for op in wanted:
            if op in options.excluded.split(","):
                continue
            if options.print:
                print(Program(by_op[op]))
            wrong += compare(
                options.interp, op, by_op[op], options.precision, pathlib.Path(folder)
            )
            total += len(by_op[op])
    print(f"{total} cases of {len(wanted)} ops, {wrong} results wrong")
    return int(wrong > 0 or not total)


if __name__ == "__main__":
    sys.exit(main())
