# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a model file: `python3 -m dist.models gpt --layers 4 --hidden 256 ...`."""

import argparse
import shlex
import sys

from dist.models.gpt import GPT
from dist.models.llama import Llama


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive size")
    return value


def rate(text):
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not in [0, 1)")
    return value


def common_options():
    parser = argparse.ArgumentParser(add_help=False)
    for name, default, meaning in [
        ("layers", 2, "number of layers"),
        ("hidden", 64, "width of the residual stream"),
        ("heads", 4, "attention heads"),
        ("seq", 128, "positions of a sequence"),
        ("batch", 8, "sequences of a step, over all devices"),
        ("vocab", 256, "size of the vocabulary"),
    ]:
        parser.add_argument(f"--{name}", type=positive, default=default,
                            metavar="N", help=f"{meaning} (default {default})")
    parser.add_argument("--ffn", type=positive, metavar="N", help="inner width of the mlp")
    parser.add_argument("--dropout", type=rate, default=0.0, metavar="RATE",
                        help="of attention, residual branches and GPT's embedding")
    parser.add_argument("--straight-line", action="store_true",
                        help="write the layers in line, not as calls")
    return parser


def parse(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m dist.models", description=__doc__)
    families = parser.add_subparsers(dest="family", required=True)
    common = common_options()
    gpt = families.add_parser("gpt", parents=[common], help="GPT-2")
    gpt.add_argument("--attention-bias", default=True, action=argparse.BooleanOptionalAction,
                     help="biases of qkv and of the attention's projection")
    gpt.set_defaults(model=GPT, kv_heads=None)
    llama = families.add_parser("llama", parents=[common], help="Llama")
    llama.add_argument("--kv-heads", type=positive, metavar="N",
                       help="key and value heads (default: as many as heads)")
    llama.add_argument("--fused-gate-up", action="store_true",
                       help="gate and up projection as one matrix")
    llama.set_defaults(model=Llama)
    for family, tied in ((gpt, True), (llama, False)):
        group = family.add_mutually_exclusive_group()
        group.add_argument("--tied", dest="tied", action="store_true", default=tied,
                           help="the head is the embedding")
        group.add_argument("--untied", dest="tied", action="store_false")
    options = parser.parse_args(arguments)
    complete(parser, options)
    return options


def complete(parser, options):
    """Fills sizes that follow from others and refuses those that do not fit."""
    o = options
    o.kv_heads = o.kv_heads or o.heads
    if o.hidden % o.heads:
        parser.error(f"--hidden {o.hidden} is not a multiple of --heads {o.heads}")
    if o.heads % o.kv_heads:
        parser.error(f"--heads {o.heads} is not a multiple of --kv-heads {o.kv_heads}")
    if o.model is Llama and o.hidden // o.heads % 2:
        parser.error(f"the head width {o.hidden // o.heads} is odd; rope turns pairs")
    # Llama's mlp has three matrices: 8/3 of the width keeps the size of GPT's.
    default = 4 * o.hidden if o.model is GPT else -(-8 * o.hidden // 3 // 32) * 32
    o.ffn = o.ffn or default


def model_file(arguments):
    """The model file for these command-line arguments; its first line says them."""
    options = parse(arguments)
    command = f"// python3 -m dist.models {shlex.join(arguments)}\n"
    return command + options.model(options).text()


def main():
    print(model_file(sys.argv[1:]), end="")


if __name__ == "__main__":
    main()
