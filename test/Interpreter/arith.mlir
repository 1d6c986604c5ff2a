// RUN: dist-interp %s --entry floats --print | FileCheck %s --check-prefix=FLOATS
// RUN: dist-interp %s --entry comparisons --print | FileCheck %s --check-prefix=CMP
// RUN: dist-interp %s --entry integers --print | FileCheck %s --check-prefix=INTS
// RUN: dist-interp %s --entry casts --print | FileCheck %s --check-prefix=CASTS
// RUN: dist-interp %s --entry rounding --print | FileCheck %s --check-prefix=ROUND
// RUN: dist-interp %s --entry rounding --f64 --print | FileCheck %s --check-prefix=EXACT
// RUN: not dist-interp %s --entry division 2>&1 | FileCheck %s --check-prefix=DIV

// FLOATS: result0 = [4, 2]
// FLOATS-NEXT: result1 = [nan, 0]
// FLOATS-NEXT: result2 = [-1, -0]
func.func @floats() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 2.0]> : tensor<2xf32>
  %c = arith.constant dense<[0x7FC00000, -0.0]> : tensor<2xf32>
  %0 = arith.addf %a, %b : tensor<2xf32>
  %1 = arith.maximumf %a, %c : tensor<2xf32>
  %2 = arith.negf %a : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A NaN is neither less nor equal, but unordered.
// CMP: result0 = [1, 0, 0]
// CMP-NEXT: result1 = [1, 0, 1]
// CMP-NEXT: result2 = [1, 0]
// CMP-NEXT: result3 = [0, 1]
func.func @comparisons() -> (tensor<3xi1>, tensor<3xi1>, tensor<2xi1>, tensor<2xi1>) {
  %a = arith.constant dense<[1.0, 3.0, 0x7FC00000]> : tensor<3xf32>
  %b = arith.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf32>
  %0 = arith.cmpf olt, %a, %b : tensor<3xf32>
  %1 = arith.cmpf ult, %a, %b : tensor<3xf32>
  %i = arith.constant dense<[-1, 2]> : tensor<2xi32>
  %j = arith.constant dense<[1, 1]> : tensor<2xi32>
  %2 = arith.cmpi slt, %i, %j : tensor<2xi32>
  %3 = arith.cmpi ult, %j, %i : tensor<2xi32>
  %4 = arith.xori %2, %3 : tensor<2xi1>
  return %0, %1, %2, %4 : tensor<3xi1>, tensor<3xi1>, tensor<2xi1>, tensor<2xi1>
}

// INTS: result0 = [-2147483648, -5]
// INTS-NEXT: result1 = [-2147483648, -3]
// INTS-NEXT: result2 = [0, -1]
func.func @integers() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %a = arith.constant dense<[2147483647, -7]> : tensor<2xi32>
  %b = arith.constant dense<[1, 2]> : tensor<2xi32>
  %0 = arith.addi %a, %b : tensor<2xi32>
  %c = arith.constant dense<[-2147483648, -7]> : tensor<2xi32>
  %d = arith.constant dense<[-1, 2]> : tensor<2xi32>
  %1 = arith.divsi %c, %d : tensor<2xi32>
  %2 = arith.remsi %c, %d : tensor<2xi32>
  return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// A set i1 is -1 where it is signed.
// CASTS: result0 = [1, 0]
// CASTS-NEXT: result1 = [-1, 0]
// CASTS-NEXT: result2 = [2147483647, -3]
// CASTS-NEXT: result3 = [-2, 7]
func.func @casts() -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %m = arith.constant dense<[true, false]> : tensor<2xi1>
  %x = arith.constant dense<[3.0e9, -3.7]> : tensor<2xf32>
  %l = arith.constant dense<[4294967294, 7]> : tensor<2xi64>
  %0 = arith.uitofp %m : tensor<2xi1> to tensor<2xf32>
  %1 = arith.extsi %m : tensor<2xi1> to tensor<2xi32>
  %2 = arith.fptosi %x : tensor<2xf32> to tensor<2xi32>
  %3 = arith.trunci %l : tensor<2xi64> to tensor<2xi32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// Ties go to even; f64 makes casts the identity and keeps written constants.
// ROUND: result0 = [0, 2]
// ROUND-NEXT: result1 = [1, 1.01562]
// EXACT: result0 = [1, 1]
// EXACT-NEXT: result1 = [1.00390625, 1.01171875]
func.func @rounding() -> (tensor<2xf32>, tensor<2xbf16>) {
  %a = arith.constant dense<[16777216.0, 16777218.0]> : tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %sum = arith.addf %a, %one : tensor<2xf32>
  %0 = arith.subf %sum, %a : tensor<2xf32>
  %b = arith.constant dense<[1.00390625, 1.01171875]> : tensor<2xf32>
  %1 = arith.truncf %b : tensor<2xf32> to tensor<2xbf16>
  return %0, %1 : tensor<2xf32>, tensor<2xbf16>
}

// DIV: 'arith.divsi' op in step 1: division by zero at position 1
func.func @division() -> tensor<2xi32> {
  %a = arith.constant dense<[6, 7]> : tensor<2xi32>
  %b = arith.constant dense<[3, 0]> : tensor<2xi32>
  %0 = arith.divsi %a, %b : tensor<2xi32>
  return %0 : tensor<2xi32>
}
