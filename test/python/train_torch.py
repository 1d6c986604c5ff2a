# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a generated model in PyTorch on the windows that `./train` reads.

Options are those of the compiled program and of the plan's optimizer. Prints
the losses as JSON lines; with `--against LOG` compares the loss of every step
and of every evaluation with those of the compiled program's log instead.
"""

import argparse
import json
import math
import sys

import philox
import torch
from model_files import initial_values, read_model
from torch_models import MODELS, loss_and_gradients
from update import Optimizer, global_norm
from windows import Batches


def learning_rate(o, step):
    """Linear warm-up, then a cosine from the rate to the least one."""
    if step <= o.warmup:
        return o.lr * step / o.warmup
    if o.decay != "cosine":
        return o.lr
    done = (step - o.warmup) / (o.steps - o.warmup)
    return o.min_lr + (o.lr - o.min_lr) * (1 + math.cos(math.pi * done)) / 2


def evaluate(options, values, paths):
    """Mean loss without dropout over the whole batches of the files."""
    batches = Batches(paths, options.batch, options.seq, shuffled=False)
    with torch.no_grad():
        losses = [
            MODELS[options.family](values, *map(torch.from_numpy, batch), options)
            for batch in batches
        ]
    return torch.stack(losses).mean().item()


def train(o):
    """A training run; yields what each step logs."""
    options, parameters = read_model(o.model)
    values = initial_values(parameters, o.seed, torch.float32)
    batches = iter(Batches(o.data, options.batch, options.seq, o.seed))
    rates = argparse.Namespace(**vars(o))
    optimizer = Optimizer(rates, {p.name for p in parameters if not p.decay})
    for step in range(1, o.steps + 1):
        batch = map(torch.from_numpy, next(batches))
        key = philox.step_key(o.seed, step) if options.dropout else None
        loss, gradients = loss_and_gradients(values, *batch, options, key)
        norm = global_norm(gradients)
        rates.lr = learning_rate(o, step)
        values = optimizer.update(values, gradients, norm)
        record = {"step": step, "loss": loss.item(), "grad_norm": norm.item()}
        if o.eval_data and (step == o.steps or step % o.eval_every == 0):
            record["eval_loss"] = evaluate(options, values, o.eval_data)
        yield record


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a file written by dist.models")
    parser.add_argument("--data", action="append", required=True)
    parser.add_argument("--eval-data", action="append")
    parser.add_argument("--eval-every", type=int, default=10**9)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=0)
    parser.add_argument("--decay", choices=["cosine"])
    parser.add_argument("--min-lr", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--against", help="a log of the compiled program")
    parser.add_argument("--tolerance", type=float, default=0.02)
    Optimizer.add_options(parser)
    return parser.parse_args()


def compare(ours, theirs, tolerance):
    """Whether two logs have the same losses at the same steps."""
    equal = len(ours) == len(theirs)
    for name in ("loss", "eval_loss"):
        pairs = [(a, b) for a, b in zip(ours, theirs) if name in a or name in b]
        gaps = {a["step"]: abs(a[name] - b[name]) for a, b in pairs}
        worst = max(gaps, key=gaps.get)
        print(f"{name}: {len(gaps)} compared, worst at step {worst}: {gaps[worst]:.4f}; "
              f"at the end {pairs[-1][0][name]:.4f}, PyTorch {pairs[-1][1][name]:.4f}")  # fmt: skip
        equal = equal and gaps[worst] <= tolerance
    return equal


def main():
    arguments = parse_arguments()
    records = []
    for record in train(arguments):
        records.append(record)
        if not arguments.against:
            print(json.dumps(record), flush=True)
    if not arguments.against:
        return 0
    with open(arguments.against) as file:
        ours = [json.loads(line) for line in file]
    return int(not compare(ours, records, arguments.tolerance))


if __name__ == "__main__":
    sys.exit(main())
