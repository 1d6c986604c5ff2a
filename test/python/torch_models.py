# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generated models in plain PyTorch, as their papers and users write them.

`parameters` maps logical names to tensors, `options` are those of
`dist.models`, `key` is the step's random key. Numbers that the model file
writes as f32 attributes are f32 here as well.
"""

import math

import numpy as np
import philox
import torch
import torch.nn.functional as F

from dist.models import gpt as gpt_file
from dist.models import llama as llama_file


def f32(value):
    return float(np.float32(value))


def dropout(x, key, data, rate):
    """Dropout with the bits of `key` folded with `data`; without a key, none."""
    if key is None:
        return x
    mask = philox.keep_mask(philox.fold_in(key, data), tuple(x.shape), rate)
    return x * torch.from_numpy(mask) / (1 - f32(rate))


def attention(q, k, v, key, rate):
    """Causal attention of heads `b h s d`; kv heads are repeated to match."""
    repeats = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(repeats, dim=1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) * f32(1 / math.sqrt(q.shape[-1]))
    s = q.shape[-2]
    future = torch.ones(s, s, dtype=torch.bool).triu(1)
    weights = F.softmax(scores.masked_fill(future, -math.inf), dim=-1)
    return dropout(weights, key, 0, rate) @ v


def heads(x, count):
    b, s, d = x.shape
    return x.view(b, s, count, d // count).transpose(1, 2)


def merged(x):
    b, h, s, d = x.shape
    return x.transpose(1, 2).reshape(b, s, h * d)


def mean_cross_entropy(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


# GPT-2.


def layer_norm(p, name, x):
    weight, bias = p[f"{name}.weight"], p[f"{name}.bias"]
    return F.layer_norm(x, weight.shape, weight, bias, f32(gpt_file.LAYER_NORM_EPS))


def conv1d(p, name, x):
    y = x @ p[f"{name}.weight"]
    bias = p.get(f"{name}.bias")
    return y if bias is None else y + bias


def gpt_layer(p, prefix, x, key, o):
    qkv = conv1d(p, f"{prefix}.attn.c_attn", layer_norm(p, f"{prefix}.ln_1", x))
    q, k, v = (heads(part, o.heads) for part in qkv.split(o.hidden, dim=2))
    y = conv1d(p, f"{prefix}.attn.c_proj", merged(attention(q, k, v, key, o.dropout)))
    x = x + dropout(y, key, 1, o.dropout)
    up = conv1d(p, f"{prefix}.mlp.c_fc", layer_norm(p, f"{prefix}.ln_2", x))
    y = conv1d(p, f"{prefix}.mlp.c_proj", F.gelu(up, approximate="tanh"))
    return x + dropout(y, key, 2, o.dropout)


def gpt(p, tokens, targets, o, key=None):
    x = F.embedding(tokens, p["wte.weight"]) + p["wpe.weight"][: tokens.shape[1]]
    x = dropout(x, key, o.layers, o.dropout)
    for i in range(o.layers):
        x = gpt_layer(p, f"h.{i}", x, layer_key(key, i), o)
    head = p["wte.weight"] if o.tied else p["lm_head.weight"]
    return mean_cross_entropy(layer_norm(p, "ln_f", x) @ head.T, targets)


def layer_key(key, index):
    return None if key is None else philox.fold_in(key, index)


# Llama.


def rms_norm(p, name, x):
    weight = p[f"{name}.weight"]
    return F.rms_norm(x, weight.shape, weight, f32(llama_file.RMS_NORM_EPS))


def rotated(x):
    s, d = x.shape[-2:]
    powers = torch.arange(0, d, 2, dtype=torch.float64) / d
    angles = torch.arange(s, dtype=torch.float64)[:, None]
    angles = angles * f32(llama_file.ROPE_THETA) ** -powers
    angles = torch.cat([angles, angles], dim=-1)
    half = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)
    return x * angles.cos().to(x.dtype) + half * angles.sin().to(x.dtype)


def swiglu(p, prefix, x, o):
    if o.fused_gate_up:
        gate, up = (x @ p[f"{prefix}.gate_up_proj.weight"]).chunk(2, dim=-1)
    else:
        gate, up = (x @ p[f"{prefix}.{name}_proj.weight"] for name in ("gate", "up"))
    return (F.silu(gate) * up) @ p[f"{prefix}.down_proj.weight"]


def llama_layer(p, prefix, x, key, o):
    n = rms_norm(p, f"{prefix}.input_layernorm", x)
    q, k, v = (
        heads(n @ p[f"{prefix}.self_attn.{name}_proj.weight"], count)
        for name, count in (("q", o.heads), ("k", o.kv_heads), ("v", o.kv_heads))
    )
    y = merged(attention(rotated(q), rotated(k), v, key, o.dropout))
    y = y @ p[f"{prefix}.self_attn.o_proj.weight"]
    x = x + dropout(y, key, 1, o.dropout)
    n = rms_norm(p, f"{prefix}.post_attention_layernorm", x)
    return x + dropout(swiglu(p, f"{prefix}.mlp", n, o), key, 2, o.dropout)


def llama(p, tokens, targets, o, key=None):
    x = F.embedding(tokens, p["model.embed_tokens.weight"])
    for i in range(o.layers):
        x = llama_layer(p, f"model.layers.{i}", x, layer_key(key, i), o)
    head = p["model.embed_tokens.weight" if o.tied else "lm_head.weight"]
    return mean_cross_entropy(rms_norm(p, "model.norm", x) @ head.T, targets)


MODELS = {"gpt": gpt, "llama": llama}


def loss_and_gradients(parameters, tokens, targets, options, key=None):
    """The loss, and its gradient by parameter name."""
    leaves = {name: x.detach().requires_grad_() for name, x in parameters.items()}
    loss = MODELS[options.family](leaves, tokens, targets, options, key)
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    return loss.detach(), dict(zip(leaves, gradients))
