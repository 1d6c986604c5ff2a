# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameter update of a step, as the model language defines it, in PyTorch."""

import torch


def global_norm(gradients):
    """Norm over every element of all gradients."""
    return torch.sqrt(sum((g.double() ** 2).sum() for g in gradients.values()))


class Optimizer:
    """SGD or AdamW after clipping to a norm; keeps its state between updates."""

    def __init__(self, options, no_decay):
        self.options = options
        self.no_decay = no_decay
        self.steps = 0
        self.first, self.second = {}, {}

    @staticmethod
    def add_options(parser):
        parser.add_argument("--optimizer", choices=["adamw", "sgd"], default="adamw")
        parser.add_argument("--lr", type=float, default=3e-4)
        parser.add_argument("--beta1", type=float, default=0.9)
        parser.add_argument("--beta2", type=float, default=0.95)
        parser.add_argument("--eps", type=float, default=1e-8)
        parser.add_argument("--momentum", type=float, default=0.0)
        parser.add_argument("--weight-decay", type=float, help="0.1; of sgd 0")
        parser.add_argument("--clip-norm", type=float)

    def update(self, values, gradients, norm):
        """The values after one more step."""
        self.steps += 1
        if not torch.isfinite(norm):
            return values
        factor = 1.0
        if self.options.clip_norm is not None:
            factor = min(1.0, self.options.clip_norm / (norm.item() + 1e-6))
        rule = getattr(self, self.options.optimizer)
        return {
            name: p - self.options.lr * (rule(name, gradients[name] * factor)
                                         + self.decay(name) * p)
            for name, p in values.items()
        }  # fmt: skip

    def decay(self, name):
        if name in self.no_decay:
            return 0.0
        if self.options.weight_decay is None:  # the plan's defaults
            return 0.1 if self.options.optimizer == "adamw" else 0.0
        return self.options.weight_decay

    def moment(self, moments, name, value, beta, weight):
        moments[name] = (
            beta * moments.get(name, torch.zeros_like(value)) + weight * value
        )
        return moments[name]

    def sgd(self, name, g):
        return self.moment(self.first, name, g, self.options.momentum, 1.0)

    def adamw(self, name, g):
        o = self.options
        m = self.moment(self.first, name, g, o.beta1, 1 - o.beta1)
        v = self.moment(self.second, name, g * g, o.beta2, 1 - o.beta2)
        m_hat, v_hat = m / (1 - o.beta1**self.steps), v / (1 - o.beta2**self.steps)
        return m_hat / (v_hat.sqrt() + o.eps)
