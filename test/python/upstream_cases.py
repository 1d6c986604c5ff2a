# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of the `arith` and `math` ops that a model may use."""

import math

import numpy as np
from numpy_cases import Cases

UNARY = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.cos": np.cos,
    "math.erf": np.vectorize(math.erf),
    "math.exp": np.exp,
    "math.expm1": np.expm1,
    "math.floor": np.floor,
    "math.sin": np.sin,
    "math.tanh": np.tanh,
}
UNARY_POSITIVE = {
    "math.log": np.log,
    "math.log1p": np.log1p,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.sqrt": np.sqrt,
}
BINARY = {
    "arith.addf": np.add,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.mulf": np.multiply,
    "arith.subf": np.subtract,
}
BINARY_INTEGER = {
    "arith.addi": np.add,
    "arith.andi": np.bitwise_and,
    "arith.divsi": lambda i, j: np.trunc(i / j).astype(np.int32),
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.muli": np.multiply,
    "arith.ori": np.bitwise_or,
    "arith.remsi": np.fmod,
    "arith.subi": np.subtract,
    "arith.xori": np.bitwise_xor,
}
ORDERED = {
    "oeq": np.equal, "oge": np.greater_equal, "ogt": np.greater, "ole": np.less_equal,
    "olt": np.less, "one": np.not_equal,
}  # fmt: skip
SIGNED = {
    "eq": np.equal, "ne": np.not_equal, "sge": np.greater_equal, "sgt": np.greater,
    "sle": np.less_equal, "slt": np.less,
}  # fmt: skip


def comparisons(c):
    a, b = np.round(c.random(4, 5)), np.round(c.random(4, 5))
    for name, function in ORDERED.items():
        c.template(f"arith.cmpf {name}, {{0}}, {{1}} : {{t0}}", function, a, b)
    i, j = c.ids(3, 4, 5), c.ids(3, 4, 5)
    for name, function in SIGNED.items():
        c.template(f"arith.cmpi {name}, {{0}}, {{1}} : {{t0}}", function, i, j)
    m = a > b
    c.template("arith.select {0}, {1}, {2} : {t0}, {t1}", np.where, m, a, b)
    c.template("arith.select {0}, {1}, {2} : {t0}, {t1}", np.where, m, i, j)


def to(element):
    return lambda x: x.astype(element)


def casts(c):
    i, x = c.ids(100, 3, 4) - 50, 10 * c.random(3, 4)
    m = x > 0
    c.template("arith.sitofp {0} : {t0} to {t}", to(float), i)
    c.template("arith.fptosi {0} : {t0} to {t}", to(np.int32), x)
    c.template("arith.uitofp {0} : {t0} to {t}", to(float), m)
    c.template("arith.extui {0} : {t0} to {t}", to(np.int32), m)
    c.template("arith.extsi {0} : {t0} to {t}", to(np.int64), i)
    c.template("arith.trunci {0} : {t0} to {t}", to(np.int32), i.astype(np.int64))


def upstream_cases():
    c = Cases()
    x, y = 2 * c.random(3, 4), np.abs(c.random(3, 4)) + 1
    i, j = c.ids(100, 3, 4) - 50, c.ids(100, 3, 4) - 50
    j[j == 0] = 7
    for name, function in UNARY.items():
        c.template(f"{name} {{0}} : {{t0}}", function, x)
    for name, function in UNARY_POSITIVE.items():
        c.template(f"{name} {{0}} : {{t0}}", function, y)
    for name, function in BINARY.items():
        c.template(f"{name} {{0}}, {{1}} : {{t0}}", function, x, y)
    for name, function in BINARY_INTEGER.items():
        c.template(f"{name} {{0}}, {{1}} : {{t0}}", function, i, j)
    c.template("math.powf {0}, {1} : {t0}", np.power, y, x)
    comparisons(c)
    casts(c)
    return c.list
