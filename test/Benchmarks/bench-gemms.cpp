//===- bench-gemms.cpp - The matrix products of a program, alone ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: bench-gemms LIST [ROUNDS [THREADS]]
//
// LIST has a product a line, as traces name them: the type, then the numbers
// of dist_gemm_desc from `batch` on. Plays the list ROUNDS times (default 7) as
// a compiled program would, through the same function on the same pool, every
// operand in memory of its own. Prints the median of the list's time and of
// each product's, in ms, as JSON.
//
//===----------------------------------------------------------------------===//

#include "PoolRank.h"
#include "host/Spin.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace dist;

namespace {

struct Product {
  dist_gemm_desc desc;
  int64_t a, b, c; ///< bytes from the start of the memory
};

/// Bytes of `batch` matrices; `at` moves behind them.
int64_t place(const dist_gemm_desc &desc, int64_t batch, int64_t rows,
              int64_t row, int64_t columns, int64_t column, int64_t &at) {
  int64_t begin = at, extent = (desc.batch - 1) * batch + (rows - 1) * row +
                               (columns - 1) * column + 1;
  at += (extent * (desc.dtype == DIST_F64 ? 8 : 4) + 63) / 64 * 64;
  return begin;
}

/// Nothing more where the line does not parse.
bool read(std::ifstream &file, dist_gemm_desc &d) {
  std::string type;
  d.accumulate = 0;
  if (!(file >> type >> d.batch >> d.m >> d.n >> d.k >> d.a_batch >> d.a_row >>
        d.a_column >> d.b_batch >> d.b_row >> d.b_column >> d.c_batch >>
        d.c_row >> d.c_column))
    return false;
  d.dtype = type == "f64" ? DIST_F64 : DIST_F32;
  return true;
}

std::vector<Product> readList(const char *path, int64_t &bytes) {
  std::vector<Product> products;
  std::ifstream file(path);
  for (dist_gemm_desc d; read(file, d);) {
    Product product = {d, 0, 0, 0};
    product.a = place(d, d.a_batch, d.m, d.a_row, d.k, d.a_column, bytes);
    product.b = place(d, d.b_batch, d.k, d.b_row, d.n, d.b_column, bytes);
    product.c = place(d, d.c_batch, d.m, d.c_row, d.n, d.c_column, bytes);
    products.push_back(product);
  }
  return products;
}

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench-gemms LIST [ROUNDS [THREADS]]\n");
    return 1;
  }
  int64_t rounds = std::max(argc > 2 ? std::atoi(argv[2]) : 7, 1);
  int64_t threads = argc > 3 ? std::atoi(argv[3]) : getNumCores();
  int64_t bytes = 0;
  std::vector<Product> products = readList(argv[1], bytes);
  if (products.empty()) {
    std::fprintf(stderr, "bench-gemms: no product in '%s'\n", argv[1]);
    return 1;
  }
  // As the runtime has it: few misses of the address cache.
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "bench-gemms: no %lld bytes of memory\n",
                 static_cast<long long>(bytes));
    return 1;
  }
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *base = static_cast<char *>(memory);
  std::fill_n(reinterpret_cast<float *>(base), bytes / 4, 0.5f);

  dist_rank rank = {{threads, getSpins(threads, getNumCores())}};
  std::vector<double> totals;
  std::vector<std::vector<double>> times(products.size());
  for (int64_t round = -1; round < rounds; ++round) {
    double start = now(), last = start;
    for (size_t i = 0; i < products.size(); ++i) {
      const Product &p = products[i];
      dist_gemm(&rank, &p.desc, base + p.a, base + p.b, base + p.c);
      double end = now();
      if (round >= 0)
        times[i].push_back(end - last);
      last = end;
    }
    if (round >= 0)
      totals.push_back(last - start);
  }
  std::printf("{\"threads\": %lld, \"ms\": %.3f, \"products\": [",
              static_cast<long long>(rank.pool.getSize()), median(totals));
  for (size_t i = 0; i < times.size(); ++i)
    std::printf("%s%.3f", i ? ", " : "", median(times[i]));
  std::printf("]}\n");
}
