# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2: learned positions, layer norm, fused qkv, GELU, tied head, dropout.

Names and layouts are those of its Hugging Face checkpoints: a matrix is stored
`in out`, the fused one as `d (c h k)` with c running over q, k, v.
"""

import math

from dist.models.common import Model
from dist.models.text import Parameter

LAYER_NORM_EPS = 1.0e-5


class GPT(Model):
    def outer_parameters(self):
        o = self.options
        front = [
            Parameter("wte.weight", (o.vocab, o.hidden), "normal 0.02"),
            Parameter("wpe.weight", (o.seq, o.hidden), "normal 0.02"),
        ]
        back = self.norm_parameters("ln_f")
        if not o.tied:
            back.append(Parameter("lm_head.weight", (o.vocab, o.hidden), "normal 0.02"))
        return front, back

    def norm_parameters(self, name):
        return [
            Parameter(f"{name}.weight", (self.options.hidden,), "ones", decay=False),
            Parameter(f"{name}.bias", (self.options.hidden,), "zeros", decay=False),
        ]

    def linear_parameters(self, name, rows, columns, init, bias=True):
        weight = Parameter(f"{name}.weight", (rows, columns), init)
        shift = Parameter(f"{name}.bias", (columns,), "zeros", decay=False)
        return [weight, shift] if bias else [weight]

    def layer_parameters(self):
        o, d = self.options, self.options.hidden
        residual = f"normal {0.02 / math.sqrt(2 * o.layers):.6g}"
        linear, bias = self.linear_parameters, o.attention_bias
        return [
            *self.norm_parameters("ln_1"),
            *linear("attn.c_attn", d, 3 * d, "normal 0.02", bias),
            *linear("attn.c_proj", d, d, residual, bias),
            *self.norm_parameters("ln_2"),
            *linear("mlp.c_fc", d, o.ffn, "normal 0.02"),
            *linear("mlp.c_proj", o.ffn, d, residual),
        ]

    def layer_prefix(self, index):
        return f"h.{index}."

    def norm(self, f, x, weights, name):
        operands = [x, weights[f"{name}.weight"], weights[f"{name}.bias"]]
        return f.nn("layer_norm", operands, name="n", eps=LAYER_NORM_EPS)

    def linear(self, f, x, weights, layer, name):
        y = f.einsum("b s d, d e -> b s e", x, weights[f"{layer}.weight"], name=name)
        bias = weights.get(f"{layer}.bias")
        if bias is None:
            return y
        shift = f.repeat("e -> b s e", bias, y.shape, name=f"{name}_bias")
        return f.add(y, shift, name=name)

    def embed(self, f, tokens, key):
        o = self.options
        shape = (o.batch, o.seq, o.hidden)
        token = f.nn("embedding", [self.weights["wte.weight"], tokens],
                     (shape, "f32"), name="token")
        position = f.repeat("s d -> b s d", self.weights["wpe.weight"], shape,
                            name="position")
        return self.dropout(f, f.add(token, position, name="x"), key, o.layers)

    def attention(self, f, x, key, weights):
        """Causal self-attention of normed `x`, projected back to it."""
        o = self.options
        qkv = self.linear(f, x, weights, "attn.c_attn", name="qkv")
        split = f.rearrange("b s (c h k) -> c b h s k", qkv, name="split", c=3, h=o.heads)
        q, k, v = (
            f.rearrange("1 b h s k -> b h s k",
                        f.part(split, 0, i, i + 1, name=f"{name}_slice"), name=name)
            for i, name in enumerate("qkv")
        )
        scale = 1 / math.sqrt(o.hidden // o.heads)
        bits = key and f.nn("fold_in", [key], name="key", data=0)
        mixed = f.nn("attention", [q, k, v], name="mixed", groups={"key": bits},
                     causal=True, scale=scale, dropout=o.dropout or None)
        merged = f.rearrange("b h s k -> b s (h k)", mixed, name="merged")
        return self.linear(f, merged, weights, "attn.c_proj", name="attn")

    def layer(self, f, x, key, weights):
        y = self.attention(f, self.norm(f, x, weights, "ln_1"), key, weights)
        x = f.add(x, self.dropout(f, y, key, 1), name="x")
        up = self.linear(f, self.norm(f, x, weights, "ln_2"), weights, "mlp.c_fc", "up")
        act = f.nn("gelu", [up], name="act", approximate="tanh")
        y = self.linear(f, act, weights, "mlp.c_proj", name="mlp")
        return f.add(x, self.dropout(f, y, key, 2), name="x")

    def logits(self, f, x):
        x = self.norm(f, x, self.weights, "ln_f")
        table = self.weights["wte.weight" if self.options.tied else "lm_head.weight"]
        return f.einsum("b s d, v d -> b s v", x, table, name="logits")
