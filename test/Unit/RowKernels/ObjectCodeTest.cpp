//===- ObjectCodeTest.cpp - Object files for named CPUs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dist/Target/ObjectCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace dist;

static constexpr const char *kModule = R"(
  llvm.func @twice(%x: f32) -> f32 {
    %y = llvm.fadd %x, %x : f32
    llvm.return %y : f32
  })";

namespace {
class ObjectCode : public ::testing::Test {
protected:
  ObjectCode()
      : context(mlir::MLIRContext::Threading::DISABLED),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          message += diagnostic.str();
        }) {
    registerObjectTranslations(context);
    context.loadDialect<mlir::LLVM::LLVMDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(kModule, &context);
  }

  bool emit(const ObjectOptions &options) {
    llvm::raw_svector_ostream stream(object);
    return succeeded(emitObject(*module, options, stream));
  }

  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallString<0> object;
  std::string message;
};
} // namespace

TEST_F(ObjectCode, ForTheHost) {
  ASSERT_TRUE(emit({}));
  EXPECT_EQ(object.substr(0, 4), "\x7f"
                                 "ELF");
  EXPECT_NE(object.find("twice"), llvm::StringRef::npos);
}

TEST_F(ObjectCode, ForAnUnknownCpu) {
  EXPECT_FALSE(emit({.cpu = "abacus"}));
  EXPECT_NE(message.find("unknown CPU 'abacus'"), std::string::npos) << message;
}

#ifdef __x86_64__
TEST_F(ObjectCode, FeaturesOfANamedCpu) {
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  auto v3 = lookupCpuFeatures(loc, {.cpu = "x86-64-v3"});
  ASSERT_TRUE(succeeded(v3));
  EXPECT_TRUE(llvm::is_contained(*v3, "avx2"));
  EXPECT_TRUE(llvm::is_contained(*v3, "fma"));
  EXPECT_FALSE(llvm::is_contained(*v3, "avx512f"));
  auto server = lookupCpuFeatures(loc, {.cpu = "skylake-avx512"});
  ASSERT_TRUE(succeeded(server));
  EXPECT_TRUE(llvm::is_contained(*server, "avx512f"));
  EXPECT_TRUE(emit({.cpu = "skylake-avx512"}));
}
#endif

TEST_F(ObjectCode, OfAnotherDialect) {
  context.allowUnregisteredDialects();
  module = mlir::parseSourceString<mlir::ModuleOp>(R"("x.y"() : () -> ())",
                                                   &context);
  EXPECT_FALSE(emit({}));
  EXPECT_NE(message.find("expected a module in the LLVM dialect"),
            std::string::npos)
      << message;
}
