//===- Trainer.cpp - The loop over the steps ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Trainer.h"

#include "core/Dump.h"
#include "io/PartialFile.h"
#include "io/Philox.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace dist;
using io::Error;
using io::Expected;
using io::makeError;

Trainer::Trainer(const dist_program &program, const Manifest &manifest,
                 const Options &options, Backend &backend)
    : manifest(manifest), options(options), ranks(backend.getLocalRanks()),
      store(manifest, ranks), player(program, backend),
      loss(manifest.lookup(Role::Loss)),
      evalLoss(manifest.lookup(Role::EvalLoss)),
      norm(manifest.lookup(Role::Norm)), key(manifest.lookup(Role::Key)),
      lr(manifest.lookup(Role::LearningRate)),
      stepCounter(manifest.lookup(Role::Step)) {
  for (const TensorInfo &tensor : manifest.tensors)
    if (tensor.role == Role::Metric)
      metrics.push_back(&tensor);
  metricValues.resize(metrics.size());
}

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

Error Trainer::prepare() {
  lastStep = *options.steps;
  if (Error error = checkForm())
    return error;
  if (Error error = loadState())
    return error;
  if (Error error = openFeeds())
    return error;
  Expected<io::LrSchedule> created =
      io::LrSchedule::create(options.lr.value_or(manifest.lr), options.minLr,
                             options.warmup, options.decay, lastStep);
  if (!created)
    return created.takeError();
  schedule = *created;
  return openFiles();
}

Error Trainer::checkForm() const {
  if (!loss && lastStep > 0)
    return makeError("the program has no loss");
  if (!options.evalData.empty() && (!evalLoss || manifest.eval.empty()))
    return makeError(
        "--eval-data: the program was compiled without evaluation");
  return Error::success();
}

/// Initial values, then what a checkpoint has instead.
Error Trainer::loadState() {
  state.seed = options.seed.value_or(0);
  bool paramsOnly = options.load.empty();
  const std::string &path = paramsOnly ? options.loadParams : options.load;
  if (path.empty())
    return store.initialise(state.seed);
  Expected<io::Checkpoint> checkpoint = io::Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeError();
  std::vector<size_t> wanted;
  std::vector<io::TensorSpec> specs;
  for (size_t i = 0; i < store.getNumTensors(); ++i) {
    Role role = store.getInfo(i).role;
    if (role == Role::Param || (role == Role::State && !paramsOnly)) {
      wanted.push_back(i);
      specs.push_back(store.getSpec(i));
    }
  }
  if (Error error = checkpoint->check(specs, paramsOnly))
    return error;
  for (size_t i : wanted)
    if (Error error = store.load(i, *checkpoint->lookup(store.getInfo(i).name)))
      return error;
  if (paramsOnly)
    return Error::success();
  Expected<io::TrainState> loaded = checkpoint->getState();
  if (!loaded)
    return loaded.takeError();
  state = *loaded;
  state.seed = options.seed.value_or(state.seed);
  return Error::success();
}

Error Trainer::openFeeds() {
  // A run without steps needs no inputs.
  if (lastStep > state.step) {
    Expected<Feed> opened = Feed::open(
        manifest, store,
        {.data = options.data, .inputs = options.inputs, .seed = state.seed});
    if (!opened)
      return opened.takeError();
    feed.emplace(std::move(*opened));
    if (Error error = feed->seek(state.dataPosition))
      return error;
  }
  if (options.evalData.empty())
    return Error::success();
  Expected<Feed> opened = Feed::open(manifest, store,
                                     {.data = options.evalData,
                                      .inputs = options.inputs,
                                      .dataFirst = true,
                                      .shuffle = false,
                                      .seed = state.seed});
  if (!opened)
    return opened.takeError();
  evalFeed.emplace(std::move(*opened));
  if (evalFeed->getNumBatches() == 0)
    return makeError("--eval-data holds less than a batch of %lld windows of "
                     "%lld tokens",
                     static_cast<long long>(manifest.batch),
                     static_cast<long long>(manifest.seq));
  return Error::success();
}

/// An error if `path` could not be replaced, found without touching it.
static Error checkWritable(const char *option, const std::string &path) {
  if (path.empty())
    return Error::success();
  Expected<io::PartialFile> partial = io::PartialFile::create(path);
  if (partial)
    return Error::success();
  return makeError("%s: %s", option, partial.takeError().message().c_str());
}

Error Trainer::openFiles() {
  if (Error error = checkWritable("--dump", options.dump))
    return error;
  if (Error error = checkWritable("--trace", options.trace))
    return error;
  if (!options.save.empty())
    if (Error error = io::checkSaveFolder(options.save))
      return error;
  if (!options.dump.empty())
    tap.emplace(manifest);
  if (!options.log.empty()) {
    std::vector<std::string> names;
    for (const TensorInfo *metric : metrics)
      names.push_back(metric->name);
    Expected<io::Log> opened =
        io::Log::open(options.log, names, /*append=*/state.step > 0);
    if (!opened)
      return opened.takeError();
    log.emplace(std::move(*opened));
  }
  progress.emplace(STDOUT_FILENO, isatty(STDOUT_FILENO) != 0, lastStep);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool Trainer::isDue(int64_t every) const {
  return state.step == lastStep || (every > 0 && state.step % every == 0);
}

void Trainer::writeScalars(double rate) {
  record.lr = rate;
  if (key) {
    io::PhiloxKey words =
        io::stepKey(state.seed, static_cast<uint64_t>(state.step));
    store.writeKey(*key, words.low, words.high);
  }
  if (lr)
    store.writeScalar(*lr, rate);
  if (stepCounter)
    store.writeScalar(*stepCounter, static_cast<double>(state.step));
}

bool Trainer::playStep() {
  const std::vector<Action> *lists[] = {&manifest.prologue, &manifest.step};
  Scene scene{.feed = &*feed, .lists = lists, .step = state.step};
  if (tap && state.step == lastStep)
    scene.tap = &*tap;
  return player.play(scene);
}

void Trainer::readResults(int64_t nanoseconds) {
  double seconds = std::max<double>(nanoseconds, 1) * 1e-9, comm = 0;
  for (const dist_rank *rank : ranks)
    comm += rank->commNanoseconds * 1e-9;
  record.step = state.step;
  record.loss = store.readScalar(*loss);
  record.gradNorm = norm ? store.readScalar(*norm) : 0;
  record.stepMs = seconds * 1e3;
  record.tokensPerSecond =
      static_cast<double>(manifest.batch * manifest.seq) / seconds;
  record.commShare = comm / seconds / static_cast<double>(ranks.size());
  record.peakBytes = manifest.arenaBytes;
  for (size_t i = 0; i < metrics.size(); ++i)
    metricValues[i] = store.readScalar(*metrics[i]);
  record.metrics = metricValues;
  bool skipped = !std::isfinite(record.gradNorm);
  record.nonfinite += skipped;
  nonFinite = skipped || !std::isfinite(record.loss);
}

/// Sets the evaluation loss. False if the run has failed.
Expected<bool> Trainer::evaluate() {
  const std::vector<Action> *lists[] = {&manifest.eval};
  double sum = 0;
  int64_t batches = evalFeed->getNumBatches();
  if (Error error = evalFeed->seek(0))
    return error;
  for (int64_t i = 0; i < batches; ++i) {
    if (Error error = evalFeed->next())
      return error;
    if (!player.play({.feed = &*evalFeed, .lists = lists, .step = state.step}))
      return false;
    sum += store.readScalar(*evalLoss);
  }
  record.evalLoss = sum / static_cast<double>(batches);
  return true;
}

/// Of a state as it was loaded, there is an evaluation loss only.
Error Trainer::evaluateAlone() {
  Expected<bool> done = evaluate();
  if (!done || !*done)
    return done.takeError();
  record.step = state.step;
  record.loss = record.gradNorm = std::nan("");
  std::fill(metricValues.begin(), metricValues.end(), record.loss);
  record.metrics = metricValues;
  record.peakBytes = manifest.arenaBytes;
  progress->show(record);
  return log ? log->write(record) : Error::success();
}

Expected<ExitStatus> Trainer::trainStep() {
  int64_t begin = now();
  ++state.step;
  if (Error error = feed->next())
    return error;
  writeScalars(schedule->at(state.step));
  if (!playStep())
    return kExitRankFailed;
  readResults(now() - begin);
  played = true;
  state.dataPosition = feed->getPosition();
  record.evalLoss.reset();
  if (evalFeed && isDue(options.evalEvery)) {
    Expected<bool> done = evaluate();
    if (!done)
      return done.takeError();
    if (!*done)
      return kExitRankFailed;
  }
  progress->show(record);
  if (log)
    if (Error error = log->write(record))
      return error;
  if (nonFinite && options.stopOnNonFinite)
    return kExitNonFinite;
  return kExitDone;
}

Expected<ExitStatus> Trainer::train(Interrupts &interrupts) {
  ExitStatus status = interrupts.hasCome() ? kExitInterrupted : kExitDone;
  if (state.step >= lastStep && evalFeed)
    if (Error error = evaluateAlone())
      return error;
  while (status == kExitDone && state.step < lastStep) {
    Expected<ExitStatus> stepped = trainStep();
    if (!stepped || *stepped != kExitDone) {
      progress->finish();
      if (stepped && *stepped == kExitNonFinite)
        std::fprintf(stderr,
                     "error: step %lld: loss %g and gradient norm %g, of which "
                     "one is not finite\n",
                     static_cast<long long>(state.step), record.loss,
                     record.gradNorm);
      return stepped;
    }
    if (interrupts.hasCome())
      status = kExitInterrupted;
    else if (options.saveEvery && state.step < lastStep &&
             isDue(options.saveEvery)) {
      if (!haveEqualReplicas())
        return kExitRankFailed;
      if (Error error = save())
        return error;
    }
  }
  progress->finish();
  return writeResults(status);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// False, with a message, if ranks have come apart: no input is at fault, and
/// a file with the values of some of them would hide it.
bool Trainer::haveEqualReplicas() const {
  Error error = store.checkReplicas();
  if (error)
    std::fprintf(stderr, "error: step %lld: %s\n",
                 static_cast<long long>(state.step), error.message().c_str());
  return !error;
}

/// What was asked for at the end of a run that ends with `status`.
Expected<ExitStatus> Trainer::writeResults(ExitStatus status) {
  // The gradients are those of the last step only.
  bool isDumped = !options.dump.empty() && status == kExitDone;
  if ((isDumped || !options.save.empty()) && !haveEqualReplicas())
    return kExitRankFailed;
  if (!options.save.empty())
    if (Error error = save())
      return error;
  if (isDumped)
    if (Error error = dump())
      return error;
  return status;
}

Error Trainer::save() {
  std::vector<size_t> saved;
  std::vector<io::TensorSpec> specs;
  for (size_t i = 0; i < store.getNumTensors(); ++i) {
    Role role = store.getInfo(i).role;
    if (role != Role::Param && role != Role::State)
      continue;
    saved.push_back(i);
    specs.push_back(store.getSpec(i));
  }
  return io::saveCheckpoint(options.save, state, specs,
                            [&](size_t index, void *to) {
                              store.gather(saved[index], to);
                              return Error::success();
                            });
}

Error Trainer::dump() {
  std::vector<const TensorInfo *> scalars;
  if (played)
    for (const TensorInfo *scalar : {loss, norm})
      if (scalar)
        scalars.push_back(scalar);
  return writeDump(options.dump, store, scalars, played ? &*tap : nullptr);
}
