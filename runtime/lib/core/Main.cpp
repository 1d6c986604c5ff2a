//===- Main.cpp - The main function of a compiled program -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/CpuFeatures.h"
#include "core/FailureReport.h"
#include "core/Trainer.h"
#include "host/HostBackend.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <variant>

using namespace dist;
using io::Error;
using io::Expected;

namespace {
/// The memory of all local ranks, for as long as the run.
class Arenas {
public:
  explicit Arenas(Backend &backend) : backend(backend) {}
  ~Arenas() {
    for (dist_rank *rank : backend.getLocalRanks())
      if (rank->arena)
        backend.release(rank->arena, rank->manifest.arenaBytes);
  }
  Arenas(const Arenas &) = delete;
  Arenas &operator=(const Arenas &) = delete;

  Error allocate() {
    for (dist_rank *rank : backend.getLocalRanks()) {
      rank->arena = backend.allocate(rank->manifest.arenaBytes);
      if (!rank->arena)
        return io::makeError("rank %d cannot have %lld bytes of memory",
                             rank->index,
                             static_cast<long long>(rank->manifest.arenaBytes));
    }
    return Error::success();
  }

private:
  Backend &backend;
};
} // namespace

static int report(const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.message().c_str());
  return kExitBadInput;
}

/// Buffers of the largest all-reduce of `manifest`.
static size_t getMaxBuffers(const Manifest &manifest) {
  size_t largest = 0;
  for (const std::vector<Action> *list :
       {&manifest.prologue, &manifest.step, &manifest.eval})
    for (const Action &action : *list)
      if (const auto *collective = std::get_if<CollectiveAction>(&action))
        largest = std::max(largest, collective->at.size());
  return largest;
}

/// Every rank's trace: all operations of the run, at most the last 2^16. A
/// segment marks some dozens.
static std::vector<Trace> makeTraces(const Manifest &manifest, int64_t steps) {
  constexpr int64_t kMaxEvents = 1 << 16, kPerAction = 64;
  auto actions =
      static_cast<int64_t>(manifest.prologue.size() + manifest.step.size());
  int64_t events = kMaxEvents;
  if (steps == 0 || kPerAction * actions <= kMaxEvents / steps)
    events = std::max<int64_t>(kPerAction * actions * steps, 256);
  return std::vector<Trace>(manifest.mesh.getNumRanks(), Trace(events));
}

/// DIST_TIMEOUT: seconds that a rank waits in a collective for another.
static Expected<HostOptions> readEnvironment(const Manifest &manifest) {
  HostOptions options;
  options.threads = manifest.threads;
  const char *text = std::getenv("DIST_TIMEOUT");
  if (!text)
    return options;
  const char *end = text + std::strlen(text);
  int64_t seconds = 0;
  auto [at, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || at != end || seconds < 1 || seconds > 1000000)
    return io::makeError("DIST_TIMEOUT is '%s', expected seconds from 1", text);
  options.timeout = std::chrono::seconds(seconds);
  return options;
}

static int train(const dist_program &program, const Manifest &manifest,
                 const Options &options) {
  int64_t origin = now();
  Interrupts interrupts;
  Expected<HostOptions> hostOptions = readEnvironment(manifest);
  if (!hostOptions)
    return report(hostOptions.takeError());
  HostBackend backend(manifest, *hostOptions);
  if (Error error = backend.start())
    return report(error);
  Arenas arenas(backend);
  if (Error error = arenas.allocate())
    return report(error);
  std::vector<Trace> traces;
  if (!options.trace.empty())
    traces = makeTraces(manifest, *options.steps);
  std::vector<dist_rank *> ranks = backend.getLocalRanks();
  for (dist_rank *rank : ranks) {
    rank->buffers.resize(getMaxBuffers(manifest));
    rank->trace = traces.empty() ? nullptr : &traces[rank->index];
  }
  Trainer trainer(program, manifest, options, backend);
  if (Error error = trainer.prepare())
    return report(error);
  Expected<ExitStatus> status = trainer.train(interrupts);
  if (backend.hasFailed()) {
    reportFailure(backend, ranks);
    // Ranks that are still at work would touch what returning gives back.
    if (trainer.isAbandoned())
      std::_Exit(backend.getFailureStatus());
    return backend.getFailureStatus();
  }
  if (!status)
    return report(status.takeError());
  if (!options.trace.empty())
    if (Error error = writeTraces(options.trace, traces, origin))
      return report(error);
  return *status;
}

static int runMain(const dist_program *program, int argc, char **argv) {
  if (program->abi_version != DIST_ABI_VERSION)
    return report(io::makeError(
        "the program was compiled for version %u of the runtime, this is %d",
        program->abi_version, DIST_ABI_VERSION));
  Expected<Options> options = Options::parse(argc, argv);
  if (!options)
    return report(options.takeError());
  if (options->help) {
    std::fputs(Options::getHelp(argc > 0 ? argv[0] : "train").c_str(), stdout);
    return kExitDone;
  }
  std::string_view text(program->manifest, program->manifest_bytes);
  if (options->manifest) {
    std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    return kExitDone;
  }
  Expected<Manifest> manifest = Manifest::parse(text, program->num_segments);
  if (!manifest)
    return report(manifest.takeError());
  if (Error error = checkCpuFeatures(manifest->cpuFeatures))
    return report(error);
  return train(*program, *manifest, *options);
}

int dist_main(const dist_program *program, int argc, char **argv) {
  try {
    return runMain(program, argc, argv);
  } catch (const std::bad_alloc &) {
    return report(io::makeError("out of memory"));
  } catch (const std::exception &exception) {
    return report(io::makeError("%s", exception.what()));
  }
}
