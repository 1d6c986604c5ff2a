//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011) and the streams that the language defines on it. The last word of a
// counter tells the streams apart:
//
//   0  element words of a key (dropout)       2  the key of a step
//   1  fold_in                                3  initial values
//                                             4  the order of an epoch
//
// Header-only, so that kernels draw their words inline.
//
//===----------------------------------------------------------------------===//

#ifndef DIST_RUNTIME_IO_PHILOX_H
#define DIST_RUNTIME_IO_PHILOX_H

#include <array>
#include <cstdint>
#include <string_view>

namespace dist::io {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Two key words, as the `tensor<2xi32>` of a program holds them.
struct PhiloxKey {
  uint32_t low = 0, high = 0;

  static constexpr PhiloxKey from(uint64_t value) {
    return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  }
  friend constexpr bool operator==(PhiloxKey, PhiloxKey) = default;
};

/// The block of `counter` under `key`.
constexpr PhiloxBlock philox(PhiloxKey key, PhiloxBlock counter) {
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * counter[0];
    uint64_t odd = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key.low,
               static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key.high,
               static_cast<uint32_t>(even)};
    key.low += 0x9E3779B9;
    key.high += 0xBB67AE85;
  }
  return counter;
}

/// The block of counter (`index` low, high, `third`, `stream`) under `key`.
constexpr PhiloxBlock philoxAt(PhiloxKey key, uint64_t index, uint32_t third,
                               uint32_t stream) {
  return philox(key, {static_cast<uint32_t>(index),
                      static_cast<uint32_t>(index >> 32), third, stream});
}

/// The word of element `index` (row-major in the global, unpadded tensor).
constexpr uint32_t elementWord(PhiloxKey key, uint64_t index) {
  return philoxAt(key, index / 4, 0, 0)[index % 4];
}

/// `nn.fold_in`: a key of its own for every `data` (its low 32 bits).
constexpr PhiloxKey foldIn(PhiloxKey key, uint32_t data) {
  PhiloxBlock block = philox(key, {data, 0, 0, 1});
  return {block[0], block[1]};
}

/// The `nn.key` of a step; steps count from 1.
constexpr PhiloxKey stepKey(uint64_t seed, uint64_t step) {
  PhiloxBlock block = philoxAt(PhiloxKey::from(seed), step, 0, 2);
  return {block[0], block[1]};
}

/// An element is kept iff its word is below this: floor((1 - rate) * 2^32).
constexpr uint64_t dropoutThreshold(double rate) {
  return static_cast<uint64_t>((1.0 - rate) * 4294967296.0);
}

/// True if dropout keeps element `index`.
constexpr bool dropoutKeeps(PhiloxKey key, uint64_t index, uint64_t threshold) {
  return elementWord(key, index) < threshold;
}

/// The key of a parameter's initial values: FNV-1a-64(name) xor seed.
constexpr PhiloxKey parameterKey(std::string_view name, uint64_t seed) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return PhiloxKey::from(hash ^ seed);
}

/// What window `window` is sorted by in epoch `epoch`.
constexpr uint32_t epochWord(uint64_t seed, uint64_t window, uint32_t epoch) {
  return philoxAt(PhiloxKey::from(seed), window, epoch, 4)[0];
}

} // namespace dist::io

#endif // DIST_RUNTIME_IO_PHILOX_H
