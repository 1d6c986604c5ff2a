//===- Print.cpp - The report as JSON and for people ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Report/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace dist;

namespace {
struct Total {
  int64_t count = 0;
  double wireBytes = 0;
};
} // namespace

/// Per rank and step, by op. Every rank runs the same program.
static MapVector<StringRef, Total> getTotals(const Report &report) {
  MapVector<StringRef, Total> totals;
  for (const CollectiveEntry &entry : report.collectives) {
    Total &total = totals[entry.op];
    total.count += entry.count;
    total.wireBytes += double(entry.count) * entry.wireBytes;
  }
  return totals;
}

static void printCollective(const CollectiveEntry &entry, json::OStream &json) {
  json.object([&] {
    json.attribute("op", entry.op);
    json.attribute("pp_rank", 0);
    json.attributeArray("axes", [&] {
      for (const std::string &axis : entry.axes)
        json.value(axis);
    });
    json.attribute("group", entry.group);
    json.attribute("count", entry.count);
    json.attribute("result_bytes", entry.resultBytes);
    json.attribute("wire_bytes", entry.wireBytes);
    json.attribute("phase", entry.phase);
    json.attribute("reason", entry.reason);
    json.attribute("value", entry.value);
    json.attribute("loc", entry.loc);
  });
}

static void printTotals(const Report &report, int64_t ranks,
                        json::OStream &json) {
  for (const auto &[op, total] : getTotals(report))
    json.attributeObject(op, [&] {
      json.attribute("count", total.count * ranks);
      json.attribute("wire_bytes", total.wireBytes * double(ranks));
    });
}

/// The owners of a rank's memory, in the order in which they are printed.
static constexpr std::pair<StringRef, int64_t MemoryReport::*> kOwners[] = {
    {"parameters", &MemoryReport::parameters},
    {"gradients", &MemoryReport::gradients},
    {"optimizer", &MemoryReport::optimizer},
    {"activations", &MemoryReport::activations},
    {"buffers", &MemoryReport::buffers},
    {"communicator", &MemoryReport::communicator}};

static void printMemory(const Report &report, int64_t rank,
                        json::OStream &json) {
  json.object([&] {
    json.attribute("rank", rank);
    for (auto [name, bytes] : kOwners)
      json.attribute(name, (*report.memory).*bytes);
    json.attribute("peak", report.memory->peak);
    json.attribute("library", report.libraryBytes);
  });
}

void dist::printJson(const Report &report, raw_ostream &os) {
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attributeObject("mesh", [&] {
      for (const auto &[axis, size] : report.mesh)
        json.attribute(axis, size);
    });
    json.attributeObject("compile_ms", [&] {
      for (const auto &[phase, ms] : report.compileMs)
        json.attribute(phase, ms);
    });
    json.attributeArray("collectives", [&] {
      for (const CollectiveEntry &entry : report.collectives)
        printCollective(entry, json);
    });
    json.attributeObject("totals", [&] {
      json.attributeObject("busiest_rank",
                           [&] { printTotals(report, 1, json); });
      json.attributeObject("all_ranks", [&] {
        printTotals(report, report.getNumDevices(), json);
      });
    });
    if (report.memory)
      json.attributeArray("memory", [&] {
        for (int64_t rank = 0; rank < report.getNumDevices(); ++rank)
          printMemory(report, rank, json);
      });
    json.attributeObject("flops", [&] {
      json.attribute("model", report.modelFlops);
      json.attribute("hardware", report.hardwareFlops);
    });
  });
  os << '\n';
}

void dist::printText(const Report &report, raw_ostream &os) {
  os << "mesh " << (report.mesh.empty() ? "one device" : "");
  interleave(
      report.mesh, os,
      [&](const auto &axis) { os << axis.first << '=' << axis.second; }, ",");
  os << "\nflops of a step: model " << report.modelFlops << ", all devices "
     << report.hardwareFlops << '\n';
  os << "compiled in";
  for (const auto &[phase, ms] : report.compileMs)
    os << ' ' << phase << format(" %.1f ms", ms);
  if (report.memory) {
    os << "\nmemory of a rank: " << report.memory->peak << " bytes";
    for (auto [name, bytes] : kOwners)
      os << ", " << name << ' ' << (*report.memory).*bytes;
    if (report.libraryBytes)
      os << "; beside it the GEMM library " << *report.libraryBytes;
  }
  os << "\n\nper rank and step:\n";
  for (const auto &[op, total] : getTotals(report))
    os << format("  %6lld x %-15s %14.0f bytes sent\n", (long long)total.count,
                 op.str().c_str(), total.wireBytes);
  os << (report.collectives.empty() ? "  nothing is sent\n" : "\n");
  for (const CollectiveEntry &entry : report.collectives) {
    os << entry.phase << ": " << entry.count << " x " << entry.op << " over "
       << join(entry.axes, ",") << " (" << entry.group << " devices), "
       << entry.resultBytes << " bytes: " << entry.value << "\n    "
       << entry.reason;
    if (!entry.loc.empty())
      os << " (" << entry.loc << ')';
    os << '\n';
  }
}
