# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The random numbers of the model language in NumPy.

Run as a program it checks the published known answers of Philox4x32-10.
"""

import sys

import numpy as np

MASK = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85


def philox(counter, key):
    """Philox4x32-10; `counter` is (..., 4) and `key` two words, all uint32."""
    c = np.moveaxis(np.asarray(counter).astype(np.uint64), -1, 0)
    c0, c1, c2, c3 = c
    k0, k1 = (int(word) & 0xFFFFFFFF for word in key)
    for _ in range(10):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (p1 >> SHIFT) ^ c1 ^ np.uint64(k0),
            p1 & MASK,
            (p0 >> SHIFT) ^ c3 ^ np.uint64(k1),
            p0 & MASK,
        )
        k0, k1 = (k0 + WEYL[0]) & 0xFFFFFFFF, (k1 + WEYL[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], -1).astype(np.uint32)


def counters(index, third, fourth):
    """Counters (index low, index high, third, fourth) of an index array."""
    index = np.asarray(index, np.uint64)
    fixed = np.broadcast_to(np.array([third, fourth], np.uint64), (*index.shape, 2))
    return np.concatenate(
        [np.stack([index & MASK, index >> SHIFT], -1), fixed], axis=-1
    )


def element_words(key, shape):
    """The word of every element of a tensor of `shape`."""
    count = int(np.prod(shape))
    blocks = philox(counters(np.arange(-(-count // 4)), 0, 0), key)
    return blocks.reshape(-1)[:count].reshape(shape)


def keep_mask(key, shape, rate):
    """True where dropout at `rate` (an f32 number) keeps an element."""
    threshold = int(np.floor((1.0 - float(np.float32(rate))) * 2.0**32))
    return element_words(key, shape).astype(np.uint64) < np.uint64(threshold)


def fold_in(key, data):
    """A key derived from `key`, as the int32 words of the model language."""
    words = philox(np.array([data, 0, 0, 1]), key)[:2]
    return words.astype(np.uint32).view(np.int32)


def step_key(seed, step):
    """The `nn.key` argument of a step; steps count from 1."""
    key = (seed & 0xFFFFFFFF, seed >> 32)
    return philox(counters(step, 0, 2), key)[:2].view(np.int32)


def initial_value(seed, name, shape, init):
    """The initial value in f64 of parameter `name` with `nn.init = init`."""
    kind, *numbers = init.split()
    if kind in ("zeros", "ones"):
        return np.full(shape, float(kind == "ones"))
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) % 2**64
    hashed ^= seed
    key = (hashed & 0xFFFFFFFF, hashed >> 32)
    words = philox(counters(np.arange(int(np.prod(shape))), 0, 3), key)
    words = words.astype(np.uint64)
    u1, u2 = (
        ((((words[:, i] << SHIFT) + words[:, i + 1]) >> np.uint64(11)) + 0.5) / 2.0**53
        for i in (0, 2)
    )
    if kind == "normal":
        values = np.sqrt(-2 * np.log(u1)) * np.cos(2 * np.pi * u2) * float(numbers[0])
    else:
        low, high = map(float, numbers)
        values = low + u1 * (high - low)
    return values.reshape(shape)


KNOWN_ANSWERS = [  # counter, key, words: of the Random123 distribution
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def main():
    for counter, key, words in KNOWN_ANSWERS:
        counter, key, words = (
            np.array([int(word, 16) for word in text.split()], np.uint32)
            for text in (counter, key, words)
        )
        if not np.array_equal(philox(counter, key), words):
            print(f"philox({counter}, {key}) is {philox(counter, key)}, not {words}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
