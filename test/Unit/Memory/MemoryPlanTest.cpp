//===- MemoryPlanTest.cpp -------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Transforms/MemoryPlan.h"
#include "RandomProgram.h"
#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace dist;

namespace {
/// Plays a plan on an arena whose cells of four bytes hold the value that was
/// written there last.
class Arena {
public:
  explicit Arena(int64_t bytes) : cells(bytes / 4) {}

  void write(Value value, int64_t offset) {
    fill(offset, bytesOf(value), value);
  }
  void clobber(int64_t offset, int64_t bytes) { fill(offset, bytes, Value()); }
  void copy(const PlannedCopy &copy) {
    std::vector<Value> moved(cells.begin() + copy.from / 4,
                             cells.begin() + (copy.from + copy.bytes) / 4);
    std::copy(moved.begin(), moved.end(), cells.begin() + copy.to / 4);
  }
  bool holds(Value value, int64_t offset) const {
    for (int64_t i = 0; i < bytesOf(value) / 4; ++i)
      if (cells.at(offset / 4 + i) != value)
        return false;
    return true;
  }
  static int64_t bytesOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements() * 4;
  }

private:
  void fill(int64_t offset, int64_t bytes, Value value) {
    for (int64_t i = 0; i < (bytes + 3) / 4; ++i)
      cells.at(offset / 4 + i) = value;
  }

  std::vector<Value> cells;
};

class MemoryPlanned : public testing::Test {
protected:
  MemoryPlanned() {
    context.loadDialect<DistDialect, nn::NNDialect, func::FuncDialect,
                        LLVM::LLVMDialect>();
  }

  MemoryPlan plan(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module)) << text;
    FailureOr<MemoryPlan> planned = planMemory(*module);
    EXPECT_TRUE(succeeded(planned)) << text;
    return succeeded(planned) ? std::move(*planned) : MemoryPlan();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static bool overlaps(int64_t a, int64_t aBytes, int64_t b, int64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

static bool isInPlace(func::CallOp call, int64_t result, int64_t argument) {
  auto body = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(
      (call.getCallee() + "_body").str());
  auto pairs = body->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttrName);
  for (int64_t i = 0; pairs && i + 1 < pairs.size(); i += 2)
    if (pairs[i] == result && pairs[i + 1] == argument)
      return true;
  return false;
}

/// Operands are there, results overwrite none of them unless they may.
static void playCall(const PlannedCall &planned, Arena &arena) {
  func::CallOp call = planned.call;
  int64_t numOperands = call.getNumOperands(), slot = 0;
  for (Value operand : call.getOperands())
    ASSERT_TRUE(arena.holds(operand, planned.offsets[slot++]));
  for (OpResult result : call.getResults()) {
    int64_t offset = planned.offsets[slot++], bytes = Arena::bytesOf(result);
    EXPECT_EQ(offset % kBufferAlignment, 0);
    for (int64_t i = 0; i < slot - 1; ++i) {
      Value other = i < numOperands ? call.getOperand(i)
                                    : call.getResult(i - numOperands);
      if (!overlaps(offset, bytes, planned.offsets[i], Arena::bytesOf(other)))
        continue;
      EXPECT_EQ(offset, planned.offsets[i]);
      EXPECT_TRUE(i < numOperands &&
                  isInPlace(call, result.getResultNumber(), i));
    }
  }
  auto body = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(
      (call.getCallee() + "_body").str());
  arena.clobber(
      planned.offsets.back(),
      cast<MemRefType>(body.getArgumentTypes().back()).getNumElements());
  // The workspace is nobody's.
  for (int64_t i = 0; i < numOperands; ++i)
    ASSERT_TRUE(arena.holds(call.getOperand(i), planned.offsets[i]));
  for (OpResult result : call.getResults())
    arena.write(result,
                planned.offsets[numOperands + result.getResultNumber()]);
}

static void play(const EntryPlan &entry, Arena &arena) {
  func::FuncOp func = entry.entry;
  ValueRange returned = func.getBody().front().getTerminator()->getOperands();
  for (auto [argument, offset] :
       llvm::zip_equal(func.getArguments(), entry.arguments))
    arena.write(argument, offset);
  ArrayRef<PlannedHook> hooks = entry.hooks;
  for (int64_t call = -1; call < int64_t(entry.calls.size()); ++call) {
    if (call >= 0)
      playCall(entry.calls[call], arena);
    for (; !hooks.empty() && hooks[0].call == call; hooks = hooks.drop_front())
      EXPECT_TRUE(arena.holds(returned[hooks[0].result], hooks[0].offset));
  }
  EXPECT_TRUE(hooks.empty());
  for (const PlannedCopy &copy : entry.copies) {
    EXPECT_FALSE(overlaps(copy.from, copy.bytes, copy.to, copy.bytes));
    arena.copy(copy);
  }
  for (auto [index, value] : llvm::enumerate(returned)) {
    if (func.getResultAttr(index, nn::kGradAttrName))
      continue;
    EXPECT_TRUE(arena.holds(value, entry.results[index]));
  }
}

// Whatever the program: nothing is overwritten before its last reader, and
// every result ends where the runtime looks for it.
TEST_F(MemoryPlanned, KeepsWhatIsReadLater) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string text = RandomProgram(seed).write();
    MemoryPlan planned = plan(text);
    Arena arena(planned.arenaBytes);
    play(planned.step, arena);
    play(*planned.eval, arena);
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(planned.step.results[i], planned.step.arguments[i]);
      EXPECT_EQ(planned.eval->arguments[i], planned.step.arguments[i]);
    }
    const MemoryReport &r = planned.report;
    EXPECT_EQ(r.peak, planned.arenaBytes);
    EXPECT_EQ(r.parameters + r.gradients + r.optimizer + r.activations +
                  r.buffers + r.communicator,
              r.peak);
    EXPECT_GE(r.buffers, 0);
    if (HasFailure())
      FAIL() << text;
  }
}

static constexpr const char *kChain = R"(
func.func @step(%x: tensor<256xf32> {nn.input = "x"},
                %w: tensor<16xf32> {nn.param = "w"},
                %m: tensor<16xf32> {nn.state = "m:w"})
    -> (tensor<16xf32> {nn.param = "w"}, tensor<16xf32> {nn.state = "m:w"},
        tensor<16xf32> {nn.loss}, tensor<16xf32> {nn.grad = "w"}) {
  %a = call @f(%x) : (tensor<256xf32>) -> tensor<256xf32>
  %b = call @f(%a) : (tensor<256xf32>) -> tensor<256xf32>
  %c = call @f(%b) : (tensor<256xf32>) -> tensor<256xf32>
  %g:2 = call @grad(%c) : (tensor<256xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %u:2 = call @update(%w, %m, %g#0) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  return %u#0, %u#1, %g#1, %g#0 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
func.func private @f(tensor<256xf32>) -> tensor<256xf32>
func.func private @f_body(!llvm.ptr, memref<256xf32>, memref<256xf32>,
    memref<128xi8>) attributes {dist.segment = "f"}
func.func private @grad(tensor<256xf32>) -> (tensor<16xf32>, tensor<16xf32>)
func.func private @grad_body(!llvm.ptr, memref<256xf32>, memref<16xf32>,
    memref<16xf32>, memref<0xi8>) attributes {dist.segment = "grad"}
func.func private @update(tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
func.func private @update_body(!llvm.ptr, memref<16xf32>, memref<16xf32>,
    memref<16xf32>, memref<16xf32>, memref<16xf32>, memref<0xi8>)
    attributes {dist.segment = "update",
                dist.in_place = array<i64: 0, 0, 1, 1>}
)";

// Of a chain two links are alive; the workspace lies beside them.
TEST_F(MemoryPlanned, ReusesSpace) {
  MemoryPlan planned = plan(kChain);
  EXPECT_EQ(planned.arenaBytes, (1024 + 64 + 64 + 64) + 2 * 1024 + 128);
  EXPECT_TRUE(planned.step.copies.empty());
  ASSERT_EQ(planned.step.hooks.size(), 1u);
  EXPECT_EQ(planned.step.hooks[0].call, 3);
  const MemoryReport &r = planned.report;
  EXPECT_EQ(r.parameters, 64);
  EXPECT_EQ(r.optimizer, 64);
  EXPECT_EQ(r.activations, 2 * 1024);
  EXPECT_EQ(r.gradients, 0);
  EXPECT_EQ(r.buffers, 1024 + 64 + 128);
}

// What a call overwrites nobody may read behind it.
TEST_F(MemoryPlanned, RefusesLateReads) {
  std::string text = kChain;
  size_t at = text.find("  return");
  text.insert(at, "  %late:2 = call @grad(%c) : (tensor<256xf32>) -> "
                  "(tensor<16xf32>, tensor<16xf32>)\n"
                  "  %more:2 = call @update(%w, %late#0, %late#1) : "
                  "(tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> "
                  "(tensor<16xf32>, tensor<16xf32>)\n");
  module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(bool(module));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    message = diag.str();
    return success();
  });
  EXPECT_TRUE(failed(planMemory(*module)));
  EXPECT_EQ(message, "computes result #0 in place of argument #0, expected "
                     "that nothing reads the argument later");
}
