//===- ManifestTest.cpp ---------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Manifest.h"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace dist;
using nlohmann::json;

/// A manifest with one of everything.
static json makeValid() {
  return json::parse(R"({
    "name": "gpt", "mesh": [["dp", 2], ["tp", 4]],
    "cpu_features": ["avx2"], "threads": 0, "arena_bytes": 4096,
    "batch": 16, "seq": 128, "vocab": 256, "flops_per_step": 1e9,
    "communicators": [{"axes": ["tp"]}, {"axes": ["dp", "tp:(1)2"]}],
    "tensors": [
      {"name": "w", "role": "param", "dtype": "f64", "shape": [6, 8],
       "dims": [6, 2, 4], "axes": [["dp"], ["tp:(1)2"], ["tp:(2)2"]],
       "offset": 64, "init": "normal 0.02", "no_decay": true},
      {"name": "lr", "role": "lr", "dtype": "f32", "shape": [], "dims": [],
       "axes": [], "offset": 0}],
    "optimizer": {"name": "adamw", "lr": 3e-4},
    "prologue": [],
    "step": [
      {"run": 1, "at": [0, 64]},
      {"collective": "all_reduce", "comm": 0, "monoid": "sum", "dtype": "f32",
       "at": [0, 64], "counts": [4, 8], "op": "mlp"},
      {"collective": "all_gather", "comm": 1, "dtype": "f32", "at": [0, 64],
       "counts": [16], "op": "x"},
      {"collective": "permute", "comm": 0, "dtype": "f32", "at": [0, 64],
       "counts": [16], "pairs": [[0, 1], [3, 2]], "op": "x"},
      {"collective": "broadcast", "comm": 0, "dtype": "f32", "at": [0],
       "counts": [16], "root": 3, "op": "x"},
      {"hook": "grad", "name": "w", "dtype": "f32", "shape": [4],
       "dims": [4], "axes": [["tp"]], "at": [128]},
      {"copy": 64, "at": [128, 64]}],
    "eval": [{"run": 0, "at": []}]})");
}

TEST(Manifest, ReadsEverything) {
  io::Expected<Manifest> read = Manifest::parse(makeValid().dump(), 2);
  ASSERT_TRUE(bool(read)) << read.takeError().message();
  EXPECT_EQ(read->mesh.getNumRanks(), 8);
  EXPECT_EQ(read->communicators[1].size, 4);
  EXPECT_EQ(read->communicators[1].axes, "dp, tp:(1)2");
  EXPECT_EQ(read->lr, 3e-4);
  const TensorInfo &w = read->tensors[0];
  EXPECT_EQ(w.getNumElements(), 48);
  EXPECT_EQ(w.layout.getLocalDims(), (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(w.getLocalBytes(), 48);
  EXPECT_EQ(w.written, DIST_F64);
  EXPECT_TRUE(w.noDecay);
  EXPECT_FALSE(w.frozen);
  ASSERT_EQ(read->step.size(), 7u);
  EXPECT_EQ(std::get<RunAction>(read->step[0]).segment, 1);
  EXPECT_EQ(std::get<CollectiveAction>(read->step[3]).pairs,
            (std::vector<int32_t>{0, 1, 3, 2}));
  EXPECT_EQ(std::get<CollectiveAction>(read->step[4]).root, 3);
  EXPECT_EQ(std::get<HookAction>(read->step[5]).gradient.offset, 128);
  EXPECT_EQ(std::get<CopyAction>(read->step[6]).to, 64);
  EXPECT_EQ(read->eval.size(), 1u);
}

/// The error of the valid manifest with one thing changed.
static std::string errorWith(const char *pointer, const json &value) {
  json document = makeValid();
  document[json::json_pointer(pointer)] = value;
  return Manifest::parse(document.dump(), 2).takeError().message();
}

TEST(Manifest, NamesWhatIsWrong) {
  EXPECT_EQ(Manifest::parse("{", 0).takeError().message(),
            "the program's manifest is not JSON");
  EXPECT_EQ(Manifest::parse("[]", 0).takeError().message(),
            "manifest is [], expected an object");
  EXPECT_EQ(errorWith("/mesh/1/1", 0),
            "manifest.mesh[1][1] is 0, expected an integer from 1 to "
            "9223372036854775807");
  EXPECT_EQ(errorWith("/mesh/1/0", "dp"),
            "manifest.mesh: mesh axis 'dp' is there twice");
  EXPECT_EQ(errorWith("/communicators/0/axes/0", "pp"),
            "manifest.communicators[0].axes: the mesh has no axis 'pp'");
  EXPECT_EQ(errorWith("/tensors/0/role", "weight"),
            "manifest.tensors[0].role is 'weight', which is no role");
  EXPECT_EQ(errorWith("/tensors/0/dtype", "f8"),
            "manifest.tensors[0].dtype is 'f8', expected f64, f32, bf16, f16, "
            "i64, i32 or i1");
  EXPECT_EQ(errorWith("/tensors/0/dims/0", 5),
            "manifest.tensors[0].dims do not multiply to the shape's 48 "
            "elements");
  EXPECT_EQ(errorWith("/tensors/0/axes/1/0", "dp"),
            "manifest.tensors[0].axes: 'dp' overlaps another use of its axis");
  EXPECT_EQ(errorWith("/tensors/0/offset", 4056),
            "manifest.tensors[0] takes bytes 4056 to 4104 of an arena of 4096");
  EXPECT_EQ(errorWith("/tensors/0/offset", 60),
            "manifest.tensors[0] is at byte 60, which is not aligned to its "
            "f64");
  EXPECT_EQ(errorWith("/tensors/1/dtype", "i32"),
            "manifest.tensors[1] ('lr') is not one f32 or f64 on every rank");
  EXPECT_EQ(errorWith("/tensors/1/name", "w"),
            "manifest.tensors[1].name is 'w', which is there twice");
  EXPECT_EQ(errorWith("/step/0/run", 2),
            "manifest.step[0].run is 2, expected an integer from 0 to 1");
  EXPECT_EQ(errorWith("/step/1/monoid", "prod"),
            "manifest.step[1].monoid is 'prod', expected one of sum, max, min");
  EXPECT_EQ(errorWith("/step/2/comm", 7),
            "manifest.step[2].comm is 7, expected an integer from 0 to 1");
  EXPECT_EQ(errorWith("/step/2/counts", {1, 2}),
            "manifest.step[2] has 2 buffers and 2 counts, which is not what "
            "all_gather takes");
  EXPECT_EQ(errorWith("/step/2/at/1", 4000),
            "manifest.step[2] takes bytes 4000 to 4256 of an arena of 4096");
  EXPECT_EQ(errorWith("/step/3/pairs/1/1", 1),
            "manifest.step[3].pairs[1] has a receiver that is there twice");
  EXPECT_EQ(errorWith("/step/5/hook", "act"),
            "manifest.step[5].hook is 'act', expected 'grad'");
  EXPECT_EQ(errorWith("/step/0", json::object()),
            "manifest.step[0] is neither run, collective, hook nor copy");
  EXPECT_EQ(errorWith("/step/6/at/0", 4090),
            "manifest.step[6].at[0] is 4090, expected an integer from 0 to "
            "4032");
  EXPECT_EQ(errorWith("/step/6/at/0", 100),
            "manifest.step[6] copies bytes 100 to 164 over themselves");
}

// Any value in any place is refused or fine, never a crash or an overflow.
TEST(Manifest, SurvivesAnything) {
  const std::vector<json> values = {nullptr,
                                    -1,
                                    0,
                                    1,
                                    3,
                                    int64_t(1) << 40,
                                    INT64_MAX,
                                    UINT64_MAX,
                                    1e300,
                                    "",
                                    "tp",
                                    "tp:(1)2",
                                    "sum",
                                    json::array(),
                                    json::object(),
                                    json::array({1}),
                                    json::array({INT64_MAX, INT64_MAX}),
                                    true};
  json flat = makeValid().flatten();
  for (const auto &[pointer, ignored] : flat.items())
    for (json::json_pointer at(pointer); !at.empty(); at = at.parent_pointer())
      for (const json &value : values) {
        json document = makeValid();
        document[at] = value;
        io::Expected<Manifest> read = Manifest::parse(document.dump(), 2);
        if (!read)
          EXPECT_FALSE(read.takeError().message().empty());
      }
}
