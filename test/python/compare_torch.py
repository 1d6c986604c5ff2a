# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a dump of a generated model with PyTorch.

The dump is what `./train --dump` or `dist-interp --outputs` wrote after
`--steps` steps on the fixed batch of INPUTS. PyTorch starts from `--params` (a
dump or checkpoint), or from the model's initial values under `--seed`. Loss,
gradient norm, every gradient and every updated parameter are compared.
"""

import argparse
import sys

import philox
import torch
from safetensors.torch import load_file
from model_files import initial_values, read_model, stored_values
from torch_models import loss_and_gradients
from update import Optimizer, global_norm


def reference(options, parameters, inputs, arguments):
    """What PyTorch finds in the last step, by the names of a dump."""
    dtype = torch.float64 if arguments.f64 else torch.float32
    if arguments.params:
        values = stored_values(parameters, arguments.params, dtype)
    else:
        values = initial_values(parameters, arguments.seed, dtype)
    tokens, targets = (inputs[name].long() for name in ("tokens", "targets"))
    optimizer = Optimizer(arguments, {p.name for p in parameters if not p.decay})
    for step in range(arguments.first_step, arguments.first_step + arguments.steps):
        key = philox.step_key(arguments.seed, step) if options.dropout else None
        loss, gradients = loss_and_gradients(values, tokens, targets, options, key)
        norm = global_norm(gradients)
        values = optimizer.update(values, gradients, norm)
    return {
        "loss": loss,
        "grad_norm": norm,
        **{f"grad:{name}": g for name, g in gradients.items()},
        **{f"param:{name}": x for name, x in values.items()},
    }


def errors(dump, expected, lr, steps):
    """Error of every tensor by name; infinite where the dump lacks it."""
    largest = max(
        x.abs().max().item() for name, x in expected.items() if name.startswith("grad:")
    )
    floors = {"grad": 1e-2 * largest, "param": lr * steps}
    for name, b in expected.items():
        a = dump.get(name)
        if a is None or a.shape != b.shape:
            yield name, float("inf")
            continue
        floor = floors.get(name.partition(":")[0], 0.0)
        scale = max(b.abs().max().item(), floor, 1e-30)
        yield name, (a.double() - b.double()).abs().max().item() / scale


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a file written by dist.models")
    parser.add_argument("dump", help="what to compare")
    parser.add_argument("inputs", help="tokens and targets")
    parser.add_argument("--params", help="where PyTorch starts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--first-step", type=int, default=1)
    parser.add_argument("--f64", action="store_true", help="PyTorch computes in f64")
    parser.add_argument("--tolerance", type=float, help="default 2e-5, 1e-10 in f64")
    parser.add_argument(
        "--only",
        default="",
        help="prefixes of the names to compare, separated by commas",
    )
    Optimizer.add_options(parser)
    return parser.parse_args(words)


def compare(arguments):
    """Prints what differs; true if nothing does."""
    options, parameters = read_model(arguments.model)
    expected = reference(options, parameters, load_file(arguments.inputs), arguments)
    tolerance = arguments.tolerance or (1e-10 if arguments.f64 else 2e-5)
    dump = load_file(arguments.dump)
    found = dict(errors(dump, expected, arguments.lr, arguments.steps))
    wanted = tuple(arguments.only.split(","))
    found = {name: error for name, error in found.items() if name.startswith(wanted)}
    for name, error in found.items():
        if not error <= tolerance:
            print(f"{name}: error {error:.3g} over {tolerance:.3g}")
    worst = max(found, key=found.get)
    print(f"{len(found)} tensors, largest error {found[worst]:.3g} ({worst})")
    return found[worst] <= tolerance


def main():
    return int(not compare(parse_arguments()))


if __name__ == "__main__":
    sys.exit(main())
