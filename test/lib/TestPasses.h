//===- TestPasses.h - Passes that show what interfaces say ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_TEST_LIB_TESTPASSES_H
#define DIST_TEST_LIB_TESTPASSES_H

namespace dist::test {

void registerTestAcceptedOps();
void registerTestShardingRules();
void registerTestCosts();
void registerTestDerivatives();
void registerTestHostLowerings();

inline void registerTestPasses() {
  registerTestAcceptedOps();
  registerTestShardingRules();
  registerTestCosts();
  registerTestDerivatives();
  registerTestHostLowerings();
}

} // namespace dist::test

#endif // DIST_TEST_LIB_TESTPASSES_H
