"""Checks a report of a two-layer GPT against the formulas, entry by entry.

usage: check_report.py REPORT LAYERS B S D DP TP ZERO
"""

import collections
import json
import sys

RING = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}

OWNERS = ["parameters", "gradients", "optimizer", "activations", "buffers", "communicator"]


def check_bytes(entry):
    """Wire bytes follow from what one rank gets."""
    n = entry["group"]
    whole = entry["result_bytes"] * (n if entry["op"] == "reduce_scatter" else 1)
    assert entry["wire_bytes"] == RING[entry["op"]] * (n - 1) / n * whole, entry
    assert entry["loc"] and entry["reason"] and entry["value"], entry


def check_memory(memory, ranks):
    """A rank's owners add up; what GEMM libraries allocate stands beside them."""
    assert [entry["rank"] for entry in memory] == list(range(ranks)), memory
    for entry in memory:
        owners = {k: v for k, v in entry.items() if k not in ("rank", "peak", "library")}
        assert list(owners) == OWNERS and sum(owners.values()) == entry["peak"], entry
        assert entry["parameters"] > 0 and entry["library"] >= 0, entry


def main():
    path = sys.argv[1]
    layers, b, s, d, dp, tp, zero = map(int, sys.argv[2:])
    with open(path) as file:
        report = json.load(file)
    activation = b // dp * s * d * 4
    counts = collections.Counter()
    for entry in report["collectives"]:
        check_bytes(entry)
        kind = (entry["op"], "".join(entry["axes"]), entry["phase"])
        size = entry["result_bytes"]
        if kind == ("all_reduce", "tp", "forward"):
            kind += (size,)
        elif kind == ("all_reduce", "tp", "backward"):
            assert size == activation, entry
        elif entry["value"].startswith(("grad:", "param:")):
            kind += ("parameter",)
        counts[kind] += entry["count"]
    params = 4 + 12 * layers
    expected = {
        # two for each layer, one for the embedding or the logits
        ("all_reduce", "tp", "forward", activation): 2 * layers + 1,
        ("all_reduce", "tp", "backward"): 2 * layers + 1,
        # maximum, sum of exponentials and logit of the target
        ("all_reduce", "tp", "forward", b // dp * s * 4): 3,
        ("all_reduce", "dp", "forward"): 1,
        # the norm: gradients are divided over dp too where states are
        ("all_reduce", "dptp" if zero else "tp", "update"): 1,
    }
    if zero:
        expected["reduce_scatter", "dp", "backward", "parameter"] = params
        expected["all_gather", "dp", "update", "parameter"] = params
    else:
        expected["all_reduce", "dp", "backward", "parameter"] = params
    assert counts == expected, f"{dict(counts)}\n{expected}"
    total = sum(e["count"] * e["wire_bytes"] for e in report["collectives"])
    totals = report["totals"]
    assert total == sum(t["wire_bytes"] for t in totals["busiest_rank"].values())
    assert total * dp * tp == sum(
        t["wire_bytes"] for t in totals["all_ranks"].values()
    )
    assert report["mesh"] == {"dp": dp, "tp": tp}
    check_memory(report["memory"], dp * tp)
    assert list(report["compile_ms"])[:4] == ["model", "step", "sharded", "local"]
    assert report["flops"]["hardware"] >= report["flops"]["model"] > 0
    print("as the formulas say")


main()
