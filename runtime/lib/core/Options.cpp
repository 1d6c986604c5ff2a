//===- Options.cpp - The command line of a compiled program ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Options.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

using namespace dist;
using io::Error;
using io::makeError;

namespace {
/// Stores `text`; false if it is not what the option wants.
using Store = bool (*)(Options &options, std::string_view text);

struct Row {
  const char *name, *value; ///< value: null for a switch
  const char *wants;        ///< for messages
  const char *help;
  Store store;
};
} // namespace

template <typename T>
static bool parseNumber(std::string_view text, T &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// A whole number from `least`.
template <auto member, int64_t least>
static bool storeCount(Options &options, std::string_view text) {
  int64_t value = 0;
  if (!parseNumber(text, value) || value < least)
    return false;
  options.*member = value;
  return true;
}

template <auto member>
static bool storeRate(Options &options, std::string_view text) {
  double value = 0;
  if (!parseNumber(text, value) || !std::isfinite(value) || value < 0)
    return false;
  options.*member = value;
  return true;
}

template <auto member>
static bool storeText(Options &options, std::string_view text) {
  options.*member = text;
  return !text.empty();
}

template <auto member>
static bool storeAnother(Options &options, std::string_view text) {
  (options.*member).emplace_back(text);
  return !text.empty();
}

template <auto member>
static bool storeTrue(Options &options, std::string_view) {
  options.*member = true;
  return true;
}

static bool storeSeed(Options &options, std::string_view text) {
  uint64_t value = 0;
  if (!parseNumber(text, value))
    return false;
  options.seed = value;
  return true;
}

static bool storeDecay(Options &options, std::string_view text) {
  options.decay = text;
  return text == "cosine" || text == "linear" || text == "wsd";
}

static constexpr char kCount[] = "an integer from 0",
                      kPositive[] = "an integer from 1",
                      kRate[] = "a number from 0", kFile[] = "a file name",
                      kFolder[] = "a folder name";

static constexpr Row kRows[] = {
    {"--steps", "N", kCount, "train up to this step",
     storeCount<&Options::steps, 0>},
    {"--data", "FILE", kFile,
     "tokens to train on, repeatable: .bin (u16), .u32, .npy, .safetensors, "
     "or any other file byte by byte",
     storeAnother<&Options::data>},
    {"--inputs", "FILE", kFile,
     "the batch of every step, by input name (safetensors)",
     storeText<&Options::inputs>},
    {"--seed", "N", kCount,
     "of initial values, the order of data and dropout (0)", storeSeed},
    {"--lr", "X", kRate, "learning rate, instead of the plan's",
     storeRate<&Options::lr>},
    {"--warmup", "N", kCount, "steps in which the rate rises (0)",
     storeCount<&Options::warmup, 0>},
    {"--decay", "NAME", "cosine, linear or wsd",
     "how the rate falls to --steps", storeDecay},
    {"--min-lr", "X", kRate, "the rate at the end of the decay (0)",
     storeRate<&Options::minLr>},
    {"--eval-data", "FILE", kFile, "tokens to evaluate on, repeatable",
     storeAnother<&Options::evalData>},
    {"--eval-every", "N", kPositive,
     "evaluate every N steps, not at the end only",
     storeCount<&Options::evalEvery, 1>},
    {"--save", "DIR", kFolder, "write a checkpoint at the end",
     storeText<&Options::save>},
    {"--save-every", "N", kPositive, "and every N steps",
     storeCount<&Options::saveEvery, 1>},
    {"--load", "DIR", kFolder, "go on from a checkpoint",
     storeText<&Options::load>},
    {"--load-params", "DIR", kFolder,
     "begin with the parameters of a checkpoint",
     storeText<&Options::loadParams>},
    {"--dump", "FILE", kFile,
     "write loss, norm, parameters and gradients after the last step",
     storeText<&Options::dump>},
    {"--log", "FILE", kFile, "write a JSON object a step",
     storeText<&Options::log>},
    {"--trace", "FILE", kFile, "write what ran when, for Perfetto",
     storeText<&Options::trace>},
    {"--stop-on-nonfinite", nullptr, "",
     "end with status 2 at a loss or norm that is not finite",
     storeTrue<&Options::stopOnNonFinite>},
    {"--manifest", nullptr, "", "print what the compiler told the runtime",
     storeTrue<&Options::manifest>},
    {"--help", nullptr, "", "print this", storeTrue<&Options::help>},
};

static const Row *lookup(std::string_view name) {
  for (const Row &row : kRows)
    if (row.name == name)
      return &row;
  return nullptr;
}

/// Options that contradict each other or need each other.
static Error checkTogether(const Options &options) {
  if (options.help || options.manifest)
    return Error::success();
  if (!options.steps)
    return makeError("--steps is missing; --help lists the options");
  if (!options.load.empty() && !options.loadParams.empty())
    return makeError("--load and --load-params exclude each other");
  if (options.saveEvery && options.save.empty())
    return makeError("--save-every needs --save");
  if (options.evalEvery && options.evalData.empty())
    return makeError("--eval-every needs --eval-data");
  return Error::success();
}

io::Expected<Options> Options::parse(int argc, const char *const *argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    std::string name(word.substr(0, equals));
    const Row *row = lookup(name);
    if (!row)
      return makeError("unknown option '%s'; --help lists the options",
                       name.c_str());
    if (!row->value && equals != word.npos)
      return makeError("%s takes no value", row->name);
    std::string_view text;
    if (equals != word.npos)
      text = word.substr(equals + 1);
    else if (row->value && ++i == argc)
      return makeError("%s has no value, expected %s", row->name, row->wants);
    else if (row->value)
      text = argv[i];
    if (!row->store(options, text))
      return makeError("%s is '%s', expected %s", row->name,
                       std::string(text).c_str(), row->wants);
  }
  if (Error error = checkTogether(options))
    return error;
  return options;
}

std::string Options::getHelp(const std::string &program) {
  std::string text = "usage: " + program + " --steps N --data FILE [options]\n";
  for (const Row &row : kRows) {
    std::string left = std::string("  ") + row.name;
    if (row.value)
      left += std::string(" ") + row.value;
    left.resize(std::max<size_t>(left.size() + 1, 24), ' ');
    text += left + row.help + "\n";
  }
  return text;
}
