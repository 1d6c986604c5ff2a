//===- CommandLine.cpp - What distc is asked to do ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not llvm::cl: the shared LLVM registers options of its own there, and some
// of them have the names of our keys.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace dist;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "error: " + message);
}

namespace {
struct Flag {
  StringRef name, value, help;
  std::string CommandLine::*text = nullptr;
  bool CommandLine::*isSet = nullptr;
};
} // namespace

static constexpr StringRef kPlanFlag = "plan", kEntryFlag = "entry";

static constexpr Flag kFlags[] = {
    {"o", "FILE", "the program, or with --emit the text", &CommandLine::output},
    {"emit", "PHASE", "print the IR after this phase", &CommandLine::emit},
    {"report", "FILE", "write what the program sends and computes, as JSON",
     &CommandLine::report},
    {"explain", "", "print the report for people", nullptr,
     &CommandLine::explain},
    {"dry-run", "", "stop after the report", nullptr, &CommandLine::dryRun},
    {"target", "NAME", "host, mpi or cuda", &CommandLine::target},
    {"cpu", "NAME", "the processor to generate code for", &CommandLine::cpu},
    {"cuda-arch", "LIST", "the devices to generate code for",
     &CommandLine::cudaArch},
    {"verify-against-step", "",
     "run the phases step and local in f64 and compare", nullptr,
     &CommandLine::verifyAgainstStep},
    {"help", "", "print this", nullptr, &CommandLine::help},
    {kEntryFlag, "NAME", "the function that returns the loss (loss)"},
    {kPlanFlag, "FILE", "a YAML file with the keys below"}};

static std::string getFlagName(StringRef key) {
  std::string name = key.str();
  llvm::replace(name, '_', '-');
  return name;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// Walks over the arguments.
class ArgumentReader {
public:
  explicit ArgumentReader(ArrayRef<const char *> args) : args(args) {}

  Expected<CommandLine> run();

private:
  Error readFlag(StringRef arg);
  Error readValue(StringRef name, bool isGiven, StringRef &value);
  Error readPlan();

  ArrayRef<const char *> args;
  CommandLine result;
  std::string planFile;
  SmallVector<std::pair<StringRef, StringRef>> planFlags;
};
} // namespace

/// The argument behind the flag, unless it was given by `=`.
Error ArgumentReader::readValue(StringRef name, bool isGiven,
                                StringRef &value) {
  if (isGiven)
    return Error::success();
  if (args.empty())
    return fail("--" + name + " needs a value");
  value = args.front();
  args = args.drop_front();
  return Error::success();
}

static Error failUnknown(StringRef name) {
  std::string best;
  unsigned distance = std::min<size_t>(4, name.size());
  auto consider = [&](StringRef known) {
    if (unsigned d = name.edit_distance(known, true, distance); d < distance) {
      best = known.str();
      distance = d;
    }
  };
  for (const Flag &flag : kFlags)
    consider(flag.name);
  for (PlanKey key : getPlanKeys())
    consider(getFlagName(key.name));
  return fail("unknown flag '--" + name + "'" +
              (best.empty() ? "" : "; did you mean '--" + best + "'?") +
              " (--help lists all)");
}

Error ArgumentReader::readFlag(StringRef arg) {
  StringRef text = arg.drop_while([](char c) { return c == '-'; });
  auto [name, value] = text.split('=');
  bool isGiven = text.contains('=');
  if (name.starts_with("mlir-")) {
    result.mlirFlags.push_back(arg.str());
    return Error::success();
  }
  std::string key = getFlagName(name);
  for (PlanKey known : getPlanKeys())
    if (getFlagName(known.name) == key) {
      planFlags.emplace_back(known.name, value);
      return readValue(name, isGiven, planFlags.back().second);
    }
  const Flag *flag =
      llvm::find_if(kFlags, [&](const Flag &f) { return f.name == name; });
  if (flag == std::end(kFlags))
    return failUnknown(name);
  if (flag->isSet) {
    result.*flag->isSet = true;
    return isGiven ? fail("--" + name + " takes no value") : Error::success();
  }
  if (Error error = readValue(name, isGiven, value))
    return error;
  std::string &target = name == kPlanFlag    ? planFile
                        : name == kEntryFlag ? result.options.entry
                                             : result.*flag->text;
  target = value.str();
  return Error::success();
}

Error ArgumentReader::readPlan() {
  Plan &plan = result.options.plan;
  if (!planFile.empty())
    if (Error error = readPlanFile(planFile, plan))
      return error;
  for (auto [key, value] : planFlags)
    if (Error error = readPlanFlag(key, value, plan))
      return error;
  return checkSupported(plan);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Error checkFlags(const CommandLine &line) {
  if (line.model.empty())
    return fail("no model: expected distc MODEL.mlir -o FILE (see --help)");
  if (!is_contained({"host", "mpi", "cuda"}, StringRef(line.target)))
    return fail("--target is '" + line.target +
                "', but expected host, mpi or cuda");
  if (line.emit == "schedule")
    return fail("--emit schedule is not supported yet (supported: model, step, "
                "sharded, local, staged, overlapped and runtime)");
  if (!line.emit.empty() && !lookupPhase(line.emit))
    return fail("--emit is '" + line.emit +
                "', but expected model, step, sharded, local, staged, "
                "overlapped, runtime or schedule");
  std::optional<Phase> last = lookupPhase(line.emit);
  bool isReported = line.explain || !line.report.empty();
  if (isReported && last && *last < Phase::Local)
    return fail("--emit " + line.emit +
                " stops before the phase local, which a report is made of");
  if (line.verifyAgainstStep && last && *last < Phase::Local)
    return fail("--emit " + line.emit +
                " stops before the phase local, which --verify-against-step "
                "compares");
  bool isInformative = line.dryRun || isReported;
  if (line.emit.empty() && line.output.empty() && !isInformative)
    return fail("no output: expected -o FILE, --emit PHASE or --dry-run");
  return Error::success();
}

Expected<CommandLine> ArgumentReader::run() {
  while (!args.empty()) {
    StringRef arg = args.front();
    args = args.drop_front();
    if (arg.starts_with("-") && arg != "-") {
      if (Error error = readFlag(arg))
        return error;
      continue;
    }
    if (!result.model.empty())
      return fail("two models: '" + result.model + "' and '" + arg + "'");
    result.model = arg.str();
  }
  if (result.help)
    return std::move(result);
  if (Error error = checkFlags(result))
    return error;
  if (Error error = readPlan())
    return error;
  return std::move(result);
}

Expected<CommandLine> dist::parseCommandLine(ArrayRef<const char *> args) {
  return ArgumentReader(args).run();
}

void dist::printHelp(raw_ostream &os) {
  auto print = [&](const Twine &flag, StringRef help) {
    os << format("  %-28s %s\n", flag.str().c_str(), help.str().c_str());
  };
  os << "Compiles a training program for many devices.\n\n"
        "distc MODEL.mlir [flags] -o FILE\n\nFlags:\n";
  for (const Flag &flag : kFlags)
    print((flag.name.size() == 1 ? "-" : "--") + flag.name +
              (flag.value.empty() ? "" : " ") + flag.value,
          flag.help);
  os << "\nPlan:\n";
  for (PlanKey key : getPlanKeys())
    print("--" + getFlagName(key.name), key.help);
  os << "\nFlags of MLIR, such as --mlir-print-ir-after-all, are passed on.\n";
}
