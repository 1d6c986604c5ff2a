//===- RowKernelsBench.cpp - Row kernels against copies and intrinsics ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints, per kernel on one thread: milliseconds of processor time (median),
// the time a plain copy of as many bytes takes, the same kernel in intrinsics,
// and the two ratios. Kernel and rivals alternate, so that a busy machine
// disturbs them alike.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "HandKernels.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>

using namespace dist::test;

static constexpr int64_t kRows = 2048, kColumns = 1024;
static constexpr int kRounds = 21;

static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static std::vector<float> draw(int64_t count) {
  static std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(engine);
  return values;
}

/// Median milliseconds of each function, called in turn.
static std::vector<double>
measure(const std::vector<std::function<void()>> &functions) {
  std::vector<std::vector<double>> times(functions.size());
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < functions.size(); ++i) {
      double start = now();
      functions[i]();
      times[i].push_back(now() - start);
    }
  std::vector<double> medians;
  for (std::vector<double> &samples : times) {
    std::nth_element(samples.begin(), samples.begin() + kRounds / 2,
                     samples.end());
    medians.push_back(samples[kRounds / 2]);
  }
  return medians;
}

/// `buffers`: how many times the kernel reads or writes the whole matrix.
static void report(const char *name, int buffers, std::function<void()> kernel,
                   std::function<void()> byHand) {
  static std::vector<float> from = draw(kRows * kColumns), to(from.size());
  auto copy = [] {
    std::memcpy(to.data(), from.data(), to.size() * sizeof(float));
  };
  std::vector<std::function<void()>> functions{kernel, copy};
  if (byHand && hasHandKernels())
    functions.push_back(byHand);
  std::vector<double> times = measure(functions);
  double bound = times[1] * buffers / 2;
  std::printf("%-16s %8.2f %8.2f %8.2f", name, times[0], bound,
              times[0] / bound);
  if (times.size() > 2)
    std::printf(" %8.2f %8.2f", times[2], times[0] / times[2]);
  std::printf("\n");
}

static std::unique_ptr<CompiledKernel> compile(const char *name) {
  auto kernel = CompiledKernel::fromFile(name, kRows, kColumns, "f32");
  if (!kernel) {
    std::fprintf(stderr, "row-kernels-bench: %s does not compile\n", name);
    std::exit(1);
  }
  return kernel;
}

int main() {
  int64_t size = kRows * kColumns;
  auto x = draw(size), y = draw(size), dy = draw(size), v = draw(size);
  auto gamma = draw(kColumns), beta = draw(kColumns), dgamma = draw(kColumns);
  auto mean = draw(kRows), rstd = draw(kRows);
  std::vector<int32_t> labels(kRows, 5);
  for (float &value : v)
    value *= value;
  float lr = 1e-3f, loss;

  std::printf("%-16s %8s %8s %8s %8s %8s\n", "2048 x 1024 f32", "ms", "copy",
              "ratio", "by hand", "ratio");
  auto softmax = compile("softmax"), norm = compile("layer_norm"),
       gradient = compile("layer_norm_grad"), gelu = compile("bias_gelu"),
       entropy = compile("cross_entropy"), adamw = compile("adamw");
  report(
      "softmax", 2, [&] { (*softmax)(1, x.data(), y.data()); },
      [&] { softmaxByHand(x.data(), y.data(), kRows, kColumns); });
  report(
      "layer_norm", 2,
      [&] {
        (*norm)(1, x.data(), gamma.data(), beta.data(), y.data(), mean.data(),
                rstd.data());
      },
      [&] {
        layerNormByHand(x.data(), gamma.data(), beta.data(), y.data(),
                        mean.data(), rstd.data(), kRows, kColumns);
      });
  report(
      "layer_norm_grad", 3,
      [&] {
        (*gradient)(1, x.data(), gamma.data(), mean.data(), rstd.data(),
                    dy.data(), y.data(), dgamma.data(), beta.data());
      },
      [&] {
        layerNormGradByHand(x.data(), gamma.data(), mean.data(), rstd.data(),
                            dy.data(), y.data(), dgamma.data(), beta.data(),
                            kRows, kColumns);
      });
  report(
      "bias_gelu", 2, [&] { (*gelu)(1, x.data(), gamma.data(), y.data()); },
      [&] {
        biasGeluByHand(x.data(), gamma.data(), y.data(), kRows, kColumns);
      });
  report(
      "cross_entropy", 1,
      [&] { (*entropy)(1, x.data(), labels.data(), &loss, mean.data()); },
      nullptr);
  report(
      "adamw", 7,
      [&] { (*adamw)(1, x.data(), dy.data(), y.data(), v.data(), &lr); },
      nullptr);
  return 0;
}
