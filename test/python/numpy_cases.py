# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of every op and attribute, for `compare_numpy.py`."""

import dataclasses
import functools

import numpy as np
import numpy_ops as ops

KEY = np.array([0x12345678, -7], np.int32)


@dataclasses.dataclass
class Case:
    """One use of an op: what is written, and what it computes.

    `head` is a pattern, or a monoid and a pattern; `groups` are optional
    operands by keyword; `attributes` are printed; `template` replaces all of
    that for upstream ops. `reference(*operands, **groups)` is what NumPy says.
    Cases of one `label` share a program.
    """

    label: str
    op: str
    operands: list
    reference: object
    head: str = ""
    groups: dict = dataclasses.field(default_factory=dict)
    attributes: dict = dataclasses.field(default_factory=dict)
    template: str = ""

    def results(self, operands=None, groups=None):
        """The results as a tuple, at other values of the operands if given."""
        operands = self.operands if operands is None else operands
        groups = self.groups if groups is None else groups
        found = self.reference(*operands, **groups)
        return found if isinstance(found, tuple) else (np.asarray(found),)


def rounded(operands):
    """Floating operands as f32 numbers in f64, so that both precisions see them."""
    return [
        x.astype(np.float32).astype(float) if x.dtype == float else x for x in operands
    ]


class Cases:
    """Collects cases. `hidden` is what the text says by its result type."""

    def __init__(self):
        self.list = []
        self.generator = np.random.default_rng(20)

    def random(self, *shape):
        return np.asarray(self.generator.standard_normal(shape))

    def ids(self, bound, *shape, dtype=np.int32):
        return self.generator.integers(0, bound, shape).astype(dtype)

    def add(self, op, *operands, groups=None, hidden=None, **attributes):
        operands = rounded(operands)
        groups = dict(zip(groups or {}, rounded((groups or {}).values())))
        function = getattr(ops, "slice_" if op == "slice" else op)
        reference = functools.partial(function, **attributes, **(hidden or {}))
        self.list.append(Case(op, op, operands, reference, "", groups, attributes))

    def pattern(self, op, pattern, *operands, monoid=None, hidden=None, **sizes):
        words = [monoid, pattern] if monoid else [pattern]
        given = {**sizes, **(hidden or {})}
        reference = functools.partial(getattr(ops, op), *words, **given)
        head = f'{monoid} "{pattern}"' if monoid else f'"{pattern}"'
        label = "reduce_prod" if monoid == "prod" else op
        case = Case(label, op, rounded(operands), reference, head, {}, sizes)
        self.list.append(case)

    def template(self, text, function, *operands):
        """An upstream op; `{0}` and `{t0}` stand for operand 0 and its type,
        `{t}` for the result's."""
        op = text.split()[0]
        self.list.append(Case(op, op, rounded(operands), function, template=text))


def structural(c):
    x = c.random(2, 3, 4)
    c.pattern("einsum", "b s d, d e -> b s e", x, c.random(4, 5))
    c.pattern("einsum", "b s d, e d -> e s b", x, c.random(5, 4))
    c.pattern("einsum", "b s d -> s", x)
    c.pattern("einsum", "b s d ->", x)
    c.pattern("einsum", "b s d -> d b s", x)
    c.pattern("einsum", "b, s -> b s", c.random(3), c.random(4))
    c.pattern("einsum", "d, d ->", c.random(7), c.random(7))
    c.pattern("einsum", "head row, head col, col -> row head",
              c.random(2, 3), c.random(2, 4), c.random(4))  # fmt: skip
    c.pattern("einsum", "a b, b c, c d, d -> a",
              c.random(2, 3), c.random(3, 4), c.random(4, 5), c.random(5))  # fmt: skip
    c.pattern("rearrange", "b s (h k) -> b h s k", c.random(2, 3, 8), h=4)
    c.pattern("rearrange", "b s (c h k) -> c b h s k", c.random(2, 3, 24), c=3, h=4)
    c.pattern("rearrange", "b h s k -> b s (h k)", c.random(2, 3, 4, 5))
    c.pattern("rearrange", "(a b) (c d) -> (c a) (d b)", c.random(6, 20), a=2, d=5)
    c.pattern("rearrange", "1 a 1 b -> b 1 a", c.random(1, 3, 1, 4))
    c.pattern("rearrange", "a b c -> (c b a)", x)
    c.pattern("rearrange", "a b -> b a", c.ids(9, 3, 4))
    c.pattern("repeat", "d -> b s d", c.random(4), hidden={"b": 2, "s": 3})
    c.pattern("repeat", "d -> d b", c.random(4), hidden={"b": 2})
    c.pattern("repeat", "-> a b", c.random(), hidden={"a": 2, "b": 3})
    c.pattern("repeat", "a b -> b c a", c.random(2, 3), hidden={"c": 4})
    c.pattern("repeat", "g k -> (g r) k", c.random(2, 3), r=4)
    c.pattern("repeat", "a 1 -> a b", c.random(2, 1), hidden={"b": 3})
    reductions(c, ["sum", "max", "min", "mean"])


def reductions(c, monoids):
    for monoid in monoids:
        x = c.random(3, 4, 5)
        c.pattern("reduce", "b h s -> b h", x, monoid=monoid)
        c.pattern("reduce", "b h s -> s b", x, monoid=monoid)
        c.pattern("reduce", "b h s ->", x, monoid=monoid)
        c.pattern("reduce", "b (h k) -> b k", c.random(3, 8), monoid=monoid, k=2)
        c.pattern("reduce", "a b -> a 1", c.random(3, 4), monoid=monoid)


def normalisation(c):
    for op in ("softmax", "log_softmax"):
        for dim in range(3):
            c.add(op, 3 * c.random(3, 4, 5), dim=dim)
        c.add(op, 300 * c.random(2, 6), dim=1)
    for eps in (1e-5, 0.5):
        x, g, b = c.random(2, 3, 8), c.random(8), c.random(8)
        c.add("layer_norm", x, g, b, eps=eps)
        c.add("rms_norm", x, g, eps=eps)
    c.add("layer_norm", c.random(3, 5) + 100, c.random(5), c.random(5), eps=1e-5)


def activations(c):
    points = np.concatenate([4 * c.random(13), [0.0, 30.0, -30.0]])
    for op in ("gelu", "silu", "relu", "sigmoid", "stop_gradient"):
        c.add(op, points)
        c.add(op, c.random(2, 3, 4))
    c.add("gelu", points, approximate="tanh")
    c.add("gelu", points, approximate="none")


def attention(c):
    b, h, s, d = 2, 4, 6, 4

    def qkv(g=h, t=s, e=d):
        return c.random(b, h, s, d), c.random(b, g, t, d), c.random(b, g, t, e)

    for g in (1, 2, 4):
        c.add("attention", *qkv(g), scale=0.5)
        c.add("attention", *qkv(g), scale=0.3, causal=True)
    for t in (1, 3, 9):
        c.add("attention", *qkv(t=t), scale=0.5)
        c.add("attention", *qkv(t=t), scale=0.5, causal=True)
    c.add("attention", *qkv(e=7), scale=0.5, causal=True)
    for window in (1, 2, 5, 64):
        c.add("attention", *qkv(2), scale=0.5, causal=True, window=window)
    c.add("attention", *qkv(t=3), scale=0.5, causal=True, window=2)
    c.add("attention", *qkv(2), scale=2.0, softcap=1.5, causal=True)
    for shape in [
        (b, h, s, s),
        (1, h, s, s),
        (b, 1, 1, s),
        (1, 1, 1, 1),
        (s, s),
        (h, 1, s),
    ]:
        bias = {"bias": c.random(*shape)}
        c.add("attention", *qkv(2), groups=bias, scale=0.5, causal=True)
    hole = np.where(np.eye(s, k=1) + np.eye(s, k=-1), -np.inf, 0.0)[None, None]
    c.add("attention", *qkv(2), groups={"bias": hole}, scale=0.5)
    segments = np.array([[0, 0, 0, 1, 1, 2], [3, 3, 5, 5, 3, 3]], np.int32)
    c.add("attention", *qkv(2), groups={"segment_ids": segments}, scale=0.5)
    c.add("attention", *qkv(), groups={"segment_ids": segments}, scale=0.5, causal=True,
          window=2)  # fmt: skip
    for rate in (0.1, 0.5):
        c.add("attention", *qkv(2), groups={"key": KEY}, scale=0.5, dropout=rate)
    everything = {"bias": c.random(b, h, s, s), "segment_ids": segments, "key": KEY}
    c.add("attention", *qkv(2, e=3), groups=everything, causal=True, scale=0.7,
          window=3, softcap=2.0, dropout=0.25)  # fmt: skip


def attention_grad(c):
    """Called directly, with the results of the forward and any cotangent."""
    b, h, s, d = 2, 4, 6, 4
    segments = np.array([[0, 0, 0, 1, 1, 2], [3, 3, 5, 5, 3, 3]], np.int32)
    hole = np.where(np.eye(s, k=1) + np.eye(s, k=-1), -np.inf, 0.0)[None, None]

    def add(g=h, t=s, e=d, grouped=False, groups=None, **attributes):
        q, k, v = rounded([c.random(b, h, s, d), c.random(b, g, t, d), c.random(b, g, t, e)])
        groups = dict(zip(groups or {}, rounded((groups or {}).values())))
        out, lse = ops.attention_with_lse(q, k, v, **groups, **attributes)
        queries = [q, out, lse, c.random(*out.shape)]
        if grouped:
            queries = [x.reshape(b, g, h // g, *x.shape[2:]) for x in queries]
        q, out, lse, grad = queries
        c.add("attention_grad", q, k, v, out, lse, grad, groups=groups, **attributes)

    for g in (1, 2, 4):
        add(g, scale=0.5)
        add(g, scale=0.3, causal=True)
        add(g, grouped=True, scale=0.3, causal=True)
    add(e=7, scale=0.5, causal=True)
    add(2, scale=2.0, softcap=1.5, causal=True)
    for window in (1, 2, 64):
        add(2, scale=0.5, causal=True, window=window)
    # The last queries see no key.
    add(t=3, scale=0.5, causal=True, window=2)
    add(2, t=3, e=5, groups={"key": KEY}, scale=0.5, causal=True, window=2, dropout=0.3)
    for shape in [(b, h, s, s), (1, h, s, s), (b, 1, 1, s), (1, 1, 1, 1), (s, s), (h, 1, s)]:
        add(2, groups={"bias": c.random(*shape)}, scale=0.5, causal=True)
    add(2, groups={"bias": hole}, scale=0.5)
    add(2, groups={"segment_ids": segments}, scale=0.5)
    for rate in (0.1, 0.5):
        add(2, groups={"key": KEY}, scale=0.5, dropout=rate)
        add(2, grouped=True, groups={"key": KEY}, scale=0.5, dropout=rate)
    everything = {"bias": c.random(b, h, s, s), "segment_ids": segments, "key": KEY}
    add(2, e=3, groups=everything, causal=True, scale=0.7, window=3, softcap=2.0, dropout=0.25)


def rope(c):
    x = c.random(2, 3, 5, 8)
    line = np.arange(5, dtype=np.int32)
    table = c.ids(50, 2, 5)
    for pos in (line, table, line + 1000):
        for interleaved in (False, True):
            for dims in (None, 4):
                c.add("rope", x, pos, theta=1.0e4, dims=dims, interleaved=interleaved)
    freqs = np.float32([1.0, 0.5, 0.25, 0.1]).astype(float)
    c.add("rope", x, line, groups={"freqs": freqs})
    c.add("rope", x, table, groups={"freqs": freqs[:2]}, dims=4, interleaved=True)
    c.add("rope", x, line, theta=5.0e5)


def loss(c):
    c.add("embedding", c.random(7, 4), c.ids(7, 2, 3))
    c.add("embedding", c.random(7, 4), c.ids(7, 5, dtype=np.int64))
    logits, labels = 3 * c.random(2, 3, 9), c.ids(9, 2, 3)
    c.add("cross_entropy", logits, labels)
    c.add("cross_entropy", 200 * c.random(4, 5), c.ids(5, 4, dtype=np.int64))
    some = labels.copy()
    some[0, 1] = some[1, 2] = -100
    for ignore in (None, -100, int(labels[0, 0])):
        for smoothing in (None, 0.1):
            for z in (None, 1e-2):
                given = {
                    "ignore_index": ignore,
                    "label_smoothing": smoothing,
                    "z_loss": z,
                }
                given = {
                    key: value for key, value in given.items() if value is not None
                }
                c.add(
                    "cross_entropy", logits, some if ignore == -100 else labels, **given
                )


def randomness(c):
    for rate in (0.0, 0.1, 0.5, 0.999):
        c.add("dropout", c.random(5, 7), KEY, rate=rate)
    c.add("dropout", c.random(3, 4, 5), np.array([0, 0], np.int32), rate=0.3)
    c.add("dropout", c.random(), KEY, rate=0.5)
    for data in (0, 3, 2**31 + 5):
        c.add("fold_in", KEY, data=data)


def indexing(c):
    x = c.random(3, 4, 5)
    for dim in range(3):
        c.add("take", x, c.ids(x.shape[dim], 2), dim=dim)
        c.add("take", x, c.ids(x.shape[dim], 2, 6), dim=dim)
        c.add("take", x, c.ids(x.shape[dim]), dim=dim)
        shape = [7 if i == dim else n for i, n in enumerate(x.shape)]
        ids = c.ids(x.shape[dim], *shape, dtype=np.int64 if dim == 1 else np.int32)
        c.add("gather", x, ids, dim=dim)
        c.add("scatter_add", x, ids, c.random(*shape), dim=dim)
        c.add("scatter_add", x, c.ids(x.shape[dim], 7), c.random(*shape), dim=dim)
        c.add("argmax", x, dim=dim)
        c.add("argmax", np.round(x), dim=dim)
        c.add("iota", dim=dim, hidden={"shape": (3, 4, 5), "element": np.int32})
    c.add("take", c.ids(90, 6), c.ids(6, 4), dim=0)
    c.add("iota", dim=0, hidden={"shape": (6,), "element": float})


def layout(c):
    x, i = c.random(4, 6), c.ids(99, 4, 6)
    for x in (x, i):
        c.add("slice", x, starts=[0, 4], limits=[4, 6], strides=[1, 1])
        c.add("slice", x, starts=[1, 0], limits=[4, 6], strides=[2, 4])
        c.add("slice", x, starts=[2, 3], limits=[2, 6], strides=[1, 1])
        c.add("concat", x, x[:, :2], dim=1)
        c.add("concat", x, x[:1], x[:2], dim=0)
        c.add("concat", x, dim=0)
        c.add("reverse", x, dims=[1])
        c.add("reverse", x, dims=[0, 1])
        c.add("reshape", x, hidden={"shape": (3, 2, 4)})
        c.add("reshape", x, hidden={"shape": (24,)})
    x = c.random(4, 6)
    c.add("reshape", x[:1, :1], hidden={"shape": ()})
    c.add("pad", x, low=[1, 0], high=[0, 2], value=0.0)
    c.add("pad", x, low=[0, 3], high=[2, 1], value=-1.5)


def ordering(c):
    for x in (c.random(3, 4, 5), np.round(c.random(3, 4, 5))):
        for dim in range(3):
            c.add("sort", x, dim=dim)
            c.add("sort", x, dim=dim, descending=True)
            for flags in ({}, {"exclusive": True}, {"reverse": True}):
                c.add("cumsum", x, dim=dim, **flags)
            c.add("cumsum", x, dim=dim, exclusive=True, reverse=True)
        for k in (1, 3, 5):
            c.add("top_k", x, k=k)
    c.add("one_hot", c.ids(6, 2, 3), hidden={"depth": 6, "element": float})
    reductions(c, ["prod"])


FAMILIES = [structural, normalisation, activations, attention, attention_grad, rope,
            loss, randomness, indexing, layout, ordering]  # fmt: skip


def all_cases():
    cases = Cases()
    for family in FAMILIES:
        family(cases)
    return cases.list
