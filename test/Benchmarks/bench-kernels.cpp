//===- bench-kernels.cpp - Times attention and matrix products ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: bench-kernels [THREADS [ROUNDS]]
//
// Prints the best time of ROUNDS calls (default 7), in ms, and GF/s, of causal
// attention in two shapes and of the matrix products of one step of a GPT
// (hidden 256, 4 layers, ffn 1024, vocabulary 512, 2048 tokens), with rows
// packed and padded by 16 floats. Wall time; with one thread its CPU time,
// which a busy machine disturbs less.
//
//===----------------------------------------------------------------------===//

#include "PoolRank.h"
#include "host/Kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

using namespace dist;

namespace {

std::vector<float> randomValues(int64_t count) {
  static std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(engine);
  return values;
}

double now(const dist_rank &rank) {
  timespec time;
  clock_gettime(rank.pool.getSize() > 1 ? CLOCK_MONOTONIC
                                        : CLOCK_THREAD_CPUTIME_ID,
                &time);
  return 1e3 * time.tv_sec + 1e-6 * time.tv_nsec;
}

/// Best time of `rounds` calls, in ms, after one that does not count.
double bestTime(const dist_rank &rank, int rounds,
                const std::function<void()> &body) {
  body();
  double best = INFINITY;
  for (int i = 0; i < rounds; ++i) {
    double start = now(rank);
    body();
    best = std::min(best, now(rank) - start);
  }
  return best;
}

struct AttentionShape {
  const char *name;
  int64_t b, heads, s, d;
  int64_t padding; ///< Of rows of `h k`; -1: heads contiguous.
};

void benchAttention(dist_rank &rank, const AttentionShape &shape, int rounds) {
  int64_t b = shape.b, h = shape.heads, s = shape.s, d = shape.d;
  bool inPlace = shape.padding >= 0;
  int64_t row = inPlace ? h * d + shape.padding : d;
  int64_t size = b * s * (inPlace ? row : h * d);
  dist_attention_grad_desc grad = {};
  dist_attention_desc &desc = grad.forward;
  desc.dtype = DIST_F32;
  desc.causal = 1;
  desc.b = b, desc.g = h, desc.r = 1, desc.s = desc.t = s, desc.d = desc.e = d;
  desc.scale = 1 / std::sqrt(double(d));
  for (int64_t *q : {desc.q, desc.o, grad.grad_o, grad.dq})
    q[0] = inPlace ? s * row : h * s * d, q[1] = inPlace ? d : s * d, q[2] = 0,
    q[3] = row;
  for (int64_t *k : {desc.k, desc.v, grad.dk, grad.dv})
    k[0] = desc.q[0], k[1] = desc.q[1], k[2] = row;
  auto q = randomValues(size), k = randomValues(size), v = randomValues(size),
       gradO = randomValues(size);
  std::vector<float> o(size), lse(b * h * s), dq(size), dk(size), dv(size);
  double forward = bestTime(rank, rounds, [&] {
    dist_attention(&rank, &desc, q.data(), k.data(), v.data(), nullptr, nullptr,
                   nullptr, o.data(), lse.data());
  });
  double backward = bestTime(rank, rounds, [&] {
    dist_attention_grad(&rank, &grad, q.data(), k.data(), v.data(), nullptr,
                        nullptr, nullptr, o.data(), lse.data(), gradO.data(),
                        dq.data(), dk.data(), dv.data(), nullptr);
  });
  // Two products forward, five backward, half of each is masked.
  double product = double(b * h) * s * s * d * 1e-6;
  std::printf("%-24s %8.2f %8.2f %8.2f   %6.1f %6.1f GF/s\n", shape.name,
              forward, backward, forward + backward, 2 * product / forward,
              5 * product / backward);
}

struct Product {
  const char *name;
  int count; ///< In a step.
  int64_t rows, in, out;
};

const Product kProducts[] = {{"qkv", 4, 2048, 256, 768},
                             {"projection", 4, 2048, 256, 256},
                             {"up", 4, 2048, 256, 1024},
                             {"down", 4, 2048, 1024, 256},
                             {"head", 1, 2048, 256, 512}};

/// Times y = x w, dx = dy w^T, dw = x^T dy. Returns what a step takes.
void benchProduct(dist_rank &rank, const Product &product, int64_t padding,
                  int rounds, double totals[3]) {
  int64_t rows = product.rows, in = product.in, out = product.out;
  int64_t ldx = in + padding, ldy = out + padding;
  auto x = randomValues(rows * ldx), w = randomValues(in * out),
       y = randomValues(rows * ldy);
  const dist_gemm_desc descs[] = {
      {DIST_F32, 0, 1, rows, out, in, 0, ldx, 1, 0, out, 1, 0, ldy, 1},
      {DIST_F32, 0, 1, rows, in, out, 0, ldy, 1, 0, 1, out, 0, ldx, 1},
      {DIST_F32, 0, 1, in, out, rows, 0, 1, ldx, 0, ldy, 1, 0, out, 1}};
  const float *const operands[][2] = {
      {x.data(), w.data()}, {y.data(), w.data()}, {x.data(), y.data()}};
  std::vector<float> results(std::max({rows * ldx, rows * ldy, in * out}));
  double flops = 2e-6 * rows * in * out, times[3];
  for (int i = 0; i < 3; ++i) {
    times[i] = bestTime(rank, rounds, [&] {
      dist_gemm(&rank, &descs[i], operands[i][0], operands[i][1],
                results.data());
    });
    totals[i] += product.count * times[i];
  }
  std::printf("%-10s %s %8.2f %8.2f %8.2f   %6.1f %6.1f %6.1f GF/s\n",
              product.name, padding ? "padded" : "packed", times[0], times[1],
              times[2], flops / times[0], flops / times[1], flops / times[2]);
}

} // namespace

int main(int argc, char **argv) {
  int threads =
      argc > 1 ? std::atoi(argv[1]) : int(std::thread::hardware_concurrency());
  int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  dist_rank rank = {{std::max(threads, 1), 4000}};
  std::printf("%s, %d threads\n%-24s  forward backward      sum\n",
              hostKernels().name, threads, "attention");
  for (const AttentionShape &shape :
       {AttentionShape{"64 heads s256 d32", 8, 8, 256, 32, -1},
        AttentionShape{"the same in rows + 16", 8, 8, 256, 32, 16},
        AttentionShape{"64 heads s1024 d64", 8, 8, 1024, 64, -1},
        AttentionShape{"the same in rows + 16", 8, 8, 1024, 64, 16}})
    benchAttention(rank, shape, rounds);
  std::printf("%-17s  forward       dx       dw\n", "products");
  for (int64_t padding : {0, 16}) {
    double totals[3] = {};
    for (const Product &product : kProducts)
      benchProduct(rank, product, padding, rounds, totals);
    std::printf("step       %s %8.2f %8.2f %8.2f   sum %.1f ms\n",
                padding ? "padded" : "packed", totals[0], totals[1], totals[2],
                totals[0] + totals[1] + totals[2]);
  }
}
