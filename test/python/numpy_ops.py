# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of `nn` compute, in NumPy and in f64.

Every function takes the operands in order, optional operands and attributes by
the names they have in the model language, and patterns and monoids first. It
is written from the language's description, plainly, to compare with.
"""

import math
import re

import numpy as np
import philox


def f32(value):
    """The value of an f32 attribute."""
    return float(np.float32(value))


# Patterns.


def parse(side):
    groups = re.findall(r"\(([^)]*)\)|(\S+)", side)
    return [(group or name).split() for group, name in groups]


def split(side, x, sizes):
    """`x` with a dimension per name of `side`, and those names."""
    names, shape = [], []
    for group, size in zip(parse(side), x.shape, strict=True):
        group = [name for name in group if name != "1"]
        known = math.prod(sizes.get(name, 1) for name in group)
        for name in group:
            sizes.setdefault(name, size // known)
        names += group
        shape += [sizes[name] for name in group]
    return names, x.reshape(shape)


def merge(side, x, sizes):
    """The inverse of `split`, of an `x` whose names are in order."""
    groups = parse(side)
    return x.reshape([math.prod(sizes.get(n, 1) for n in group) for group in groups])


def flat_names(side):
    return [name for group in parse(side) for name in group if name != "1"]


def einsum(pattern, *operands):
    left, right = pattern.split("->")
    letters = {}
    for name in flat_names(left.replace(",", " ")):
        letters.setdefault(name, chr(ord("a") + len(letters)))
    sides = ["".join(letters[n] for n in side.split()) for side in left.split(",")]
    result = "".join(letters[name] for name in right.split())
    return np.einsum(",".join(sides) + "->" + result, *operands)


def rearrange(pattern, x, **sizes):
    left, right = pattern.split("->")
    names, x = split(left, x, sizes)
    order = [names.index(name) for name in flat_names(right)]
    return merge(right, x.transpose(order), sizes)


def repeat(pattern, x, **sizes):
    left, right = pattern.split("->")
    names, x = split(left, x, sizes)
    wanted = flat_names(right)
    kept = [name for name in wanted if name in names]
    x = x.transpose([names.index(name) for name in kept])
    x = x.reshape([sizes[name] if name in names else 1 for name in wanted])
    return merge(right, np.broadcast_to(x, [sizes[name] for name in wanted]), sizes)


MONOIDS = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean,
           "prod": np.prod}  # fmt: skip


def reduce(monoid, pattern, x, **sizes):
    left, right = pattern.split("->")
    names, x = split(left, x, sizes)
    kept = flat_names(right)
    gone = tuple(i for i, name in enumerate(names) if name not in kept)
    rest = [name for name in names if name in kept]
    y = MONOIDS[monoid](x, axis=gone)
    return merge(right, y.transpose([rest.index(name) for name in kept]), sizes)


# Normalisation and activations.


def log_softmax(x, dim):
    shifted = x - x.max(axis=dim, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))


def softmax(x, dim):
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def layer_norm(x, g, b, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + f32(eps)) * g + b


def rms_norm(x, g, eps):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + f32(eps)) * g


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def relu(x):
    return np.maximum(x, 0)


# Attention.


def attention_mask(b, s, t, causal, window, segment_ids):
    """Which positions `t` a position `s` may attend to, as `b 1 s t`."""
    row, column = np.arange(s)[:, None], np.arange(t)[None, :]
    allowed = np.ones((b, 1, s, t), bool)
    if causal:
        allowed &= column <= row
    if window is not None:
        allowed &= column > row - window
    if segment_ids is not None:
        allowed &= (segment_ids[:, :, None] == segment_ids[:, None, :])[:, None]
    return allowed


def attention_scores(q, k, *, scale, bias, segment_ids, causal, window, softcap):
    """The scores `b h s t` before the bias, and with it and the mask."""
    b, h, s, _ = q.shape
    _, g, t, _ = k.shape
    capped = np.einsum("bhsd,bhtd->bhst", q, k[:, kv_heads(h, g)]) * f32(scale)
    if softcap is not None:
        capped = f32(softcap) * np.tanh(capped / f32(softcap))
    scores = capped if bias is None else capped + bias
    allowed = attention_mask(b, s, t, causal, window, segment_ids)
    return capped, np.where(allowed, scores, -np.inf)


def kv_heads(h, g):
    return [j * g // h for j in range(h)]


def attention_weights(scores):
    """Their softmax, 0 where nothing may be attended to, and log-sum-exp."""
    highest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (highest + np.log(total))[..., 0]
    return weights / np.where(total == 0, 1, total), lse


def attention_keep(shape, key, dropout):
    """What dropout multiplies probabilities with."""
    if not dropout:
        return np.ones(shape)
    return philox.keep_mask(key, shape, dropout) / (1 - f32(dropout))


def attention_with_lse(q, k, v, *, scale, bias=None, segment_ids=None, key=None,
                       causal=False, window=None, softcap=None, dropout=None):  # fmt: skip
    _, scores = attention_scores(q, k, scale=scale, bias=bias, segment_ids=segment_ids,
                                 causal=causal, window=window, softcap=softcap)  # fmt: skip
    weights, lse = attention_weights(scores)
    weights = weights * attention_keep(weights.shape, key, dropout)
    heads = kv_heads(q.shape[1], k.shape[1])
    return np.einsum("bhst,bhtd->bhsd", weights, v[:, heads]), lse


def attention(q, k, v, **options):
    return attention_with_lse(q, k, v, **options)[0]


def sum_to(x, shape):
    """The adjoint of a broadcast of `shape` to that of `x`."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    ones = tuple(i for i, size in enumerate(shape) if size == 1)
    return x.sum(axis=ones, keepdims=True)


def attention_grad(q, k, v, out, lse, grad, *, scale, bias=None, segment_ids=None,
                   key=None, causal=False, window=None, softcap=None,
                   dropout=None):  # fmt: skip
    """The cotangents of q, k, v and the bias; query heads may be grouped."""
    shape = q.shape
    if q.ndim == 5:
        flat = (shape[0], shape[1] * shape[2], shape[3])
        q, out, grad = (x.reshape(*flat, x.shape[-1]) for x in (q, out, grad))
        lse = lse.reshape(flat)
    h, g = q.shape[1], k.shape[1]
    heads = kv_heads(h, g)
    capped, scores = attention_scores(
        q, k, scale=scale, bias=bias, segment_ids=segment_ids, causal=causal,
        window=window, softcap=softcap)  # fmt: skip
    seen = np.isfinite(lse)[..., None]
    p = np.where(seen, np.exp(scores - np.where(seen, lse[..., None], 0)), 0)
    keep = attention_keep(p.shape, key, dropout)
    dv = np.einsum("bhst,bhsd->bhtd", p * keep, grad)
    dweights = keep * np.einsum("bhsd,bhtd->bhst", grad, v[:, heads])
    dscores = p * (dweights - (grad * out).sum(axis=-1)[..., None])
    slope = 1 if softcap is None else 1 - (capped / f32(softcap)) ** 2
    dproducts = dscores * slope * f32(scale)
    dq = np.einsum("bhst,bhtd->bhsd", dproducts, k[:, heads]).reshape(shape)
    dk = np.einsum("bhst,bhsd->bhtd", dproducts, q)
    dk, dv = (x.reshape(x.shape[0], g, h // g, *x.shape[2:]).sum(axis=2) for x in (dk, dv))
    return (dq, dk, dv) if bias is None else (dq, dk, dv, sum_to(dscores, bias.shape))


def rope(x, pos, *, theta=None, freqs=None, dims=None, interleaved=False):
    dims = dims or x.shape[-1]
    if freqs is None:
        freqs = f32(theta) ** (-np.arange(0, dims, 2) / dims)
    angles = pos[..., None] * freqs
    angles = angles[None, None] if pos.ndim == 1 else angles[:, None]
    turned, rest = x[..., :dims], x[..., dims:]
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned[..., : dims // 2], turned[..., dims // 2 :]
    first = a * np.cos(angles) - b * np.sin(angles)
    second = b * np.cos(angles) + a * np.sin(angles)
    if interleaved:
        turned = np.stack([first, second], axis=-1).reshape(turned.shape)
    else:
        turned = np.concatenate([first, second], axis=-1)
    return np.concatenate([turned, rest], axis=-1)


# Loss and randomness.


def embedding(table, ids):
    return table[ids]


def cross_entropy(
    logits, labels, *, ignore_index=None, label_smoothing=0.0, z_loss=0.0
):
    log_p = log_softmax(logits, -1)
    ignored = np.zeros(labels.shape, bool)
    if ignore_index is not None:
        ignored = labels == ignore_index
    index = np.where(ignored, 0, labels)[..., None]
    own = -np.take_along_axis(log_p, index, axis=-1)[..., 0]
    smooth = f32(label_smoothing)
    loss = (1 - smooth) * own + smooth * -log_p.mean(axis=-1)
    logsumexp = (logits - log_p)[..., 0]
    return np.where(ignored, 0.0, loss + f32(z_loss) * logsumexp**2)


def dropout(x, key, rate):
    kept = philox.keep_mask(key, x.shape, rate)
    return np.where(kept, x / (1 - f32(rate)), 0.0)


def fold_in(key, data):
    return philox.fold_in(key, data)


# Indexing and layout.


def take(x, ids, dim):
    return np.take(x, ids, axis=dim)


def gather(x, idx, dim):
    return np.take_along_axis(x, idx, axis=dim)


def scatter_add(x, ids, updates, dim):
    y = x.copy()
    if ids.ndim == x.ndim:
        where = list(np.indices(ids.shape))
        where[dim] = ids
        np.add.at(y, tuple(where), updates)
    else:
        np.add.at(y, (slice(None),) * dim + (ids,), updates)
    return y


def slice_(x, starts, limits, strides):
    return x[tuple(slice(*bounds) for bounds in zip(starts, limits, strides))]


def pad(x, low, high, value):
    return np.pad(x, list(zip(low, high)), constant_values=f32(value))


def concat(*operands, dim):
    return np.concatenate(operands, axis=dim)


def reverse(x, dims):
    return np.flip(x, axis=tuple(dims))


def cumsum(x, dim, exclusive=False, reverse=False):
    y = np.flip(x, axis=dim) if reverse else x
    y = np.cumsum(y, axis=dim) - (y if exclusive else 0)
    return np.flip(y, axis=dim) if reverse else y


def sort(x, dim, descending=False):
    indices = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, indices, axis=dim), indices.astype(np.int32)


def top_k(x, k):
    values, indices = sort(x, -1, descending=True)
    return values[..., :k], indices[..., :k]


def argmax(x, dim):
    return np.argmax(x, axis=dim).astype(np.int32)


def reshape(x, shape):
    return x.reshape(shape)


def iota(shape, element, dim):
    return np.broadcast_to(
        np.arange(shape[dim], dtype=element).reshape(
            [-1 if i == dim else 1 for i in range(len(shape))]
        ),
        shape,
    )


def one_hot(ids, depth, element):
    return (ids[..., None] == np.arange(depth)).astype(element)


def stop_gradient(x):
    return x
