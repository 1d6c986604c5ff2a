# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The batches of a training run, read as the compiled program reads them."""

import pathlib

import numpy as np
import philox


def read_tokens(paths):
    """The tokens of the files in order; raw bytes unless the name says more."""
    elements = {".bin": "<u2", ".u32": "<u4"}
    return np.concatenate(
        [
            np.fromfile(path, elements.get(pathlib.Path(path).suffix, "u1"))
            for path in paths
        ]
    ).astype(np.int64)


def epoch_order(windows, epoch, seed):
    """Window numbers in the order of `epoch`, sorted by their random words."""
    key = (seed & 0xFFFFFFFF, seed >> 32)
    words = philox.philox(philox.counters(np.arange(windows), epoch, 4), key)[:, 0]
    return np.argsort(words, kind="stable")


class Batches:
    """Pairs (tokens, targets) of `batch` x `seq`: without end in drawn order, or
    once in file order, whole batches only, if not `shuffled`."""

    def __init__(self, paths, batch, seq, seed=0, shuffled=True):
        self.tokens = read_tokens(paths)
        self.count = (len(self.tokens) - 1) // seq
        self.batch, self.seq, self.seed = batch, seq, seed
        self.shuffled = shuffled

    def windows(self):
        epoch = 0
        while self.shuffled or epoch == 0:
            order = np.arange(self.count)
            if self.shuffled:
                order = epoch_order(self.count, epoch, self.seed)
            yield from order
            epoch += 1

    def __iter__(self):
        chosen = []
        for window in self.windows():
            first = window * self.seq
            chosen.append(self.tokens[first : first + self.seq + 1])
            if len(chosen) == self.batch:
                rows = np.stack(chosen)
                yield rows[:, :-1], rows[:, 1:]
                chosen = []
