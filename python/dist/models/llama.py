# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama: RMS norm, rotary positions, grouped kv heads, SwiGLU, untied head.

Names are those of its Hugging Face checkpoints; the matrices of a layer are
stored `in out`, embedding and head as tables `v d`.
"""

import math

from dist.models.common import Model
from dist.models.text import Parameter

RMS_NORM_EPS = 1.0e-6
ROPE_THETA = 1.0e4


class Llama(Model):
    def outer_parameters(self):
        o = self.options
        table = (o.vocab, o.hidden)
        front = [Parameter("model.embed_tokens.weight", table, "normal 0.02")]
        back = [self.norm_parameter("model.norm")]
        if not o.tied:
            back.append(Parameter("lm_head.weight", table, "normal 0.02"))
        return front, back

    def norm_parameter(self, name):
        return Parameter(f"{name}.weight", (self.options.hidden,), "ones", decay=False)

    def layer_parameters(self):
        o, d = self.options, self.options.hidden
        width = d // o.heads
        init, residual = 0.02, 0.02 / math.sqrt(2 * o.layers)

        def matrix(name, rows, columns, std=init):
            return Parameter(f"{name}.weight", (rows, columns), f"normal {std:.6g}")

        gate_up = ["mlp.gate_proj", "mlp.up_proj"]
        return [
            self.norm_parameter("input_layernorm"),
            matrix("self_attn.q_proj", d, d),
            matrix("self_attn.k_proj", d, o.kv_heads * width),
            matrix("self_attn.v_proj", d, o.kv_heads * width),
            matrix("self_attn.o_proj", d, d, residual),
            self.norm_parameter("post_attention_layernorm"),
            *([matrix("mlp.gate_up_proj", d, 2 * o.ffn)] if o.fused_gate_up
              else [matrix(name, d, o.ffn) for name in gate_up]),
            matrix("mlp.down_proj", o.ffn, d, residual),
        ]

    def layer_prefix(self, index):
        return f"model.layers.{index}."

    def norm(self, f, x, weights, name):
        return f.nn("rms_norm", [x, weights[f"{name}.weight"]], name="n", eps=RMS_NORM_EPS)

    def linear(self, f, x, weights, layer, name):
        return f.einsum("b s d, d e -> b s e", x, weights[f"{layer}.weight"], name=name)

    def embed(self, f, tokens, key):
        o = self.options
        table = self.weights["model.embed_tokens.weight"]
        return f.nn("embedding", [table, tokens],
                    ((o.batch, o.seq, o.hidden), "f32"), name="x")

    def heads(self, f, x, weights, name, count, positions=None):
        """The heads `b h s k` of projection `name`, rotated if it has positions."""
        y = self.linear(f, x, weights, f"self_attn.{name}_proj", name=f"{name}_flat")
        y = f.rearrange("b s (h k) -> b h s k", y, name=name, h=count)
        if positions is None:
            return y
        return f.nn("rope", [y, positions], name=f"{name}_rotated", theta=ROPE_THETA)

    def attention(self, f, x, key, weights):
        """Causal self-attention of normed `x`, projected back to it."""
        o = self.options
        positions = f.nn("iota", [], ((o.seq,), "i32"), name="positions", dim=0)
        q = self.heads(f, x, weights, "q", o.heads, positions)
        k = self.heads(f, x, weights, "k", o.kv_heads, positions)
        v = self.heads(f, x, weights, "v", o.kv_heads)
        scale = 1 / math.sqrt(o.hidden // o.heads)
        bits = key and f.nn("fold_in", [key], name="key", data=0)
        mixed = f.nn("attention", [q, k, v], name="mixed", groups={"key": bits},
                     causal=True, scale=scale, dropout=o.dropout or None)
        merged = f.rearrange("b h s k -> b s (h k)", mixed, name="merged")
        return self.linear(f, merged, weights, "self_attn.o_proj", name="attn")

    def gate_and_up(self, f, x, weights):
        if not self.options.fused_gate_up:
            return [
                self.linear(f, x, weights, f"mlp.{name}_proj", name=name)
                for name in ("gate", "up")
            ]
        n = self.options.ffn
        both = self.linear(f, x, weights, "mlp.gate_up_proj", name="gate_up")
        gate = f.part(both, 2, 0, n, name="gate")
        return gate, f.part(both, 2, n, 2 * n, name="up")

    def layer(self, f, x, key, weights):
        y = self.attention(f, self.norm(f, x, weights, "input_layernorm"), key, weights)
        x = f.add(x, self.dropout(f, y, key, 1), name="x")
        n = self.norm(f, x, weights, "post_attention_layernorm")
        gate, up = self.gate_and_up(f, n, weights)
        act = f.nn("silu", [gate], name="act")
        gated = f.elementwise("arith.mulf", act, up, name="gated")
        y = self.linear(f, gated, weights, "mlp.down_proj", name="mlp")
        return f.add(x, self.dropout(f, y, key, 2), name="x")

    def logits(self, f, x):
        x = self.norm(f, x, self.weights, "model.norm")
        name = "model.embed_tokens.weight" if self.options.tied else "lm_head.weight"
        return f.einsum("b s d, v d -> b s v", x, self.weights[name], name="logits")
