# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the model families share: inputs, calls of layers, and the loss."""

from dist.models.text import Function


class Model:
    """A decoder: embedding, equal layers, head, mean cross-entropy.

    A family says its parameters and writes three pieces into a function:
    `embed`, `layer` and `logits`. `options` are those of the command line.
    """

    def __init__(self, options):
        self.options = options
        self.entry = Function("loss")

    def outer_parameters(self):
        """Parameters in front of the layers, and behind them."""
        raise NotImplementedError

    def layer_parameters(self):
        """Parameters of one layer; names lack the layer's prefix."""
        raise NotImplementedError

    def layer_prefix(self, index):
        raise NotImplementedError

    def dropout(self, f, x, key, data):
        """Dropout of `x` with bits of its own: `key` folded with `data`."""
        if key is None:
            return x
        folded = f.nn("fold_in", [key], name="key", data=data)
        return f.nn("dropout", [x, folded], name="dropped", rate=self.options.dropout)

    def layer_function(self):
        """The private function that every layer calls."""
        o = self.options
        f = Function("block", private=True)
        x = f.argument("x", (o.batch, o.seq, o.hidden))
        key = f.argument("key", (2,), "i32") if o.dropout else None
        weights = {p.name: f.argument(p.name, p.shape) for p in self.layer_parameters()}
        f.returns(self.layer(f, x, key, weights))
        return f

    def apply_layer(self, block, x, key, index):
        """Layer `index` of the entry: a call of `block`, or in line without it."""
        weights = {
            p.name: self.weights[self.layer_prefix(index) + p.name]
            for p in self.layer_parameters()
        }
        folded = key and self.entry.nn("fold_in", [key], name="layer_key", data=index)
        if block is None:
            return self.layer(self.entry, x, folded, weights)
        operands = [x, *([folded] if folded else []), *weights.values()]
        return self.entry.call(block, operands, name="x")

    def mean_loss(self, logits, targets):
        """Sum of the positions' losses divided by their number."""
        f, o = self.entry, self.options
        losses = f.nn("cross_entropy", [logits, targets],
                      (targets.shape, "f32"), name="losses")
        total = f.reduce("sum", "b s ->", losses, name="sum")
        count = f.constant(o.batch * o.seq, name="count")
        return f.elementwise("arith.divf", total, count, name="loss")

    def parameters(self):
        """All parameters, in the order of the entry's arguments."""
        front, back = self.outer_parameters()
        layers = [
            p.prefixed(self.layer_prefix(i))
            for i in range(self.options.layers)
            for p in self.layer_parameters()
        ]
        return [*front, *layers, *back]

    def text(self):
        """The whole model file."""
        f, o = self.entry, self.options
        tokens, targets = (
            f.argument(name, (o.batch, o.seq), "i32", f'nn.input = "{name}"')
            for name in ("tokens", "targets")
        )
        key = f.argument("key", (2,), "i32", "nn.key") if o.dropout else None
        self.weights = {p.name: f.parameter(p) for p in self.parameters()}
        block = None if o.straight_line else self.layer_function()
        x = self.embed(f, tokens, key)
        for index in range(o.layers):
            x = self.apply_layer(block, x, key, index)
        f.returns(self.mean_loss(self.logits(f, x), targets))
        return "\n".join(str(function) for function in (block, f) if function)
