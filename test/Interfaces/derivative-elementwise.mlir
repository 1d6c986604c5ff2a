// RUN: dist-opt %s --dist-test-write-derivatives --canonicalize | FileCheck %s

// CHECK-LABEL: @addf(
// CHECK-SAME: %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: return %[[DY]], %[[DY]]
func.func @addf(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return
}

// CHECK-LABEL: @subf(
// CHECK-SAME: %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[DY]]
// CHECK-NEXT: return %[[DY]], %[[N]]
func.func @subf(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.subf %a, %b : tensor<4xf32>
  return
}

// CHECK-LABEL: @mulf(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[DA:.*]] = arith.mulf %[[DY]], %[[B]]
// CHECK-NEXT: %[[DB:.*]] = arith.mulf %[[DY]], %[[A]]
// CHECK-NEXT: return %[[DA]], %[[DB]]
func.func @mulf(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.mulf %a, %b : tensor<4xf32>
  return
}

// CHECK-LABEL: @divf(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[Y:.*]] = arith.divf %[[A]], %[[B]]
// CHECK-NEXT: %[[DA:.*]] = arith.divf %[[DY]], %[[B]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[DA]], %[[Y]]
// CHECK-NEXT: %[[DB:.*]] = arith.negf %[[P]]
// CHECK-NEXT: return %[[DA]], %[[DB]]
func.func @divf(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.divf %a, %b : tensor<4xf32>
  return
}

// CHECK-LABEL: @negf(
// CHECK-SAME: %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[DY]]
// CHECK-NEXT: return %[[N]]
func.func @negf(%a: tensor<4xf32>) {
  %0 = arith.negf %a : tensor<4xf32>
  return
}

// Equal operands share.
// CHECK-LABEL: @maximumf(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[H:.*]] = arith.constant dense<5.000000e-01>
// CHECK-DAG: %[[FIRST:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK-DAG: %[[TIE:.*]] = arith.cmpf oeq, %[[A]], %[[B]]
// CHECK-DAG: %[[HALF:.*]] = arith.mulf %[[DY]], %[[H]]
// CHECK: %[[ONE:.*]] = arith.select %[[FIRST]], %[[DY]], %[[ZERO]]
// CHECK: %[[DA:.*]] = arith.select %[[TIE]], %[[HALF]], %[[ONE]]
// CHECK: %[[OTHER:.*]] = arith.select %[[FIRST]], %[[ZERO]], %[[DY]]
// CHECK: %[[DB:.*]] = arith.select %[[TIE]], %[[HALF]], %[[OTHER]]
// CHECK: return %[[DA]], %[[DB]]
func.func @maximumf(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.maximumf %a, %b : tensor<4xf32>
  return
}

// CHECK-LABEL: @minimumf(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK: %[[FIRST:.*]] = arith.cmpf ogt, %[[B]], %[[A]]
// CHECK: arith.select %[[FIRST]], %[[DY]],
func.func @minimumf(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.minimumf %a, %b : tensor<4xf32>
  return
}

// CHECK-LABEL: @select(
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4xi1>, %{{.*}}, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK: %[[DA:.*]] = arith.select %[[C]], %[[DY]], %[[ZERO]]
// CHECK: %[[DB:.*]] = arith.select %[[C]], %[[ZERO]], %[[DY]]
// CHECK: return %[[DA]], %[[DB]]
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
  return
}

// CHECK-LABEL: @extf(
// CHECK: arith.truncf %{{.*}} : tensor<4xf32> to tensor<4xbf16>
func.func @extf(%a: tensor<4xbf16>) {
  %0 = arith.extf %a : tensor<4xbf16> to tensor<4xf32>
  return
}

// CHECK-LABEL: @truncf(
// CHECK: arith.extf %{{.*}} : tensor<4xbf16> to tensor<4xf32>
func.func @truncf(%a: tensor<4xf32>) {
  %0 = arith.truncf %a : tensor<4xf32> to tensor<4xbf16>
  return
}

// Integers and steps have none.
// CHECK-LABEL: @discrete(
// CHECK-NEXT: return{{$}}
func.func @discrete(%a: tensor<4xi32>) {
  %0 = arith.sitofp %a : tensor<4xi32> to tensor<4xf32>
  return
}

// CHECK-LABEL: @floor(
// CHECK-NEXT: return{{$}}
func.func @floor(%a: tensor<4xf32>) {
  %0 = math.floor %a : tensor<4xf32>
  return
}

// CHECK-LABEL: @select_integers(
// CHECK-NEXT: return{{$}}
func.func @select_integers(%c: tensor<4xi1>, %a: tensor<4xi32>) {
  %0 = arith.select %c, %a, %a : tensor<4xi1>, tensor<4xi32>
  return
}

// CHECK-LABEL: @exp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[Y:.*]] = math.exp %[[X]]
// CHECK-NEXT: arith.mulf %[[DY]], %[[Y]]
func.func @exp(%x: tensor<4xf32>) {
  %0 = math.exp %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @expm1(
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %[[Y:.*]] = math.expm1
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[Y]], %[[ONE]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[S]]
func.func @expm1(%x: tensor<4xf32>) {
  %0 = math.expm1 %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @log(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = arith.divf %[[ONE]], %[[X]]
// CHECK-NEXT: arith.mulf %[[DY]], %[[S]]
func.func @log(%x: tensor<4xf32>) {
  %0 = math.log %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @log1p(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[X]], %[[ONE]]
// CHECK-NEXT: %[[S:.*]] = arith.divf %[[ONE]], %[[Z]]
// CHECK-NEXT: arith.mulf %[[DY]], %[[S]]
func.func @log1p(%x: tensor<4xf32>) {
  %0 = math.log1p %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @sqrt(
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %[[Y:.*]] = math.sqrt
// CHECK-NEXT: %[[S:.*]] = arith.divf %[[HALF]], %[[Y]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[S]]
func.func @sqrt(%x: tensor<4xf32>) {
  %0 = math.sqrt %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @rsqrt(
// CHECK: %[[HALF:.*]] = arith.constant dense<-5.000000e-01>
// CHECK-NEXT: %[[Y:.*]] = math.rsqrt
// CHECK-NEXT: %[[Y2:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK-NEXT: %[[Y3:.*]] = arith.mulf %[[Y]], %[[Y2]]
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[Y3]], %[[HALF]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[S]]
func.func @rsqrt(%x: tensor<4xf32>) {
  %0 = math.rsqrt %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @tanh(
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %[[Y:.*]] = math.tanh
// CHECK-NEXT: %[[Y2:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK-NEXT: %[[S:.*]] = arith.subf %[[ONE]], %[[Y2]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[S]]
func.func @tanh(%x: tensor<4xf32>) {
  %0 = math.tanh %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @erf(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.12837923>
// CHECK-NEXT: %[[X2:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[X2]]
// CHECK-NEXT: %[[E:.*]] = math.exp %[[N]]
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[E]], %[[C]]
// CHECK-NEXT: arith.mulf %[[DY]], %[[S]]
func.func @erf(%x: tensor<4xf32>) {
  %0 = math.erf %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @sin(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[S:.*]] = math.cos %[[X]]
// CHECK-NEXT: arith.mulf %[[DY]], %[[S]]
func.func @sin(%x: tensor<4xf32>) {
  %0 = math.sin %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @cos(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-NEXT: %[[S:.*]] = math.sin %[[X]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[S]]
// CHECK-NEXT: arith.mulf %[[DY]], %[[N]]
func.func @cos(%x: tensor<4xf32>) {
  %0 = math.cos %x : tensor<4xf32>
  return
}

// The sign, 0 at 0.
// CHECK-LABEL: @absf(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[P:.*]] = arith.cmpf ogt, %[[X]], %[[ZERO]]
// CHECK-DAG: %[[N:.*]] = arith.cmpf ogt, %[[ZERO]], %[[X]]
// CHECK: %[[S:.*]] = arith.subf
// CHECK-NEXT: arith.mulf %[[DY]], %[[S]]
func.func @absf(%x: tensor<4xf32>) {
  %0 = math.absf %x : tensor<4xf32>
  return
}

// No NaN where the exponent or the base is 0.
// CHECK-LABEL: @powf(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[E:[a-z0-9]+]]: tensor<4xf32>, %[[DY:[a-z0-9]+]]: tensor<4xf32>) ->
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK: %[[Y:.*]] = math.powf %[[X]], %[[E]]
// CHECK: %[[E1:.*]] = arith.subf %[[E]], %[[ONE]]
// CHECK: %[[P:.*]] = math.powf %[[X]], %[[E1]]
// CHECK: %[[S:.*]] = arith.mulf %[[E]], %[[P]]
// CHECK: %[[FLAT:.*]] = arith.cmpf oeq, %[[E]], %[[ZERO]]
// CHECK: %[[SX:.*]] = arith.select %[[FLAT]], %[[ZERO]], %[[S]]
// CHECK: %[[NULL:.*]] = arith.cmpf oeq, %[[X]], %[[ZERO]]
// CHECK: %[[SAFE:.*]] = arith.select %[[NULL]], %[[ONE]], %[[X]]
// CHECK: %[[LOG:.*]] = math.log %[[SAFE]]
// CHECK: %[[DX:.*]] = arith.mulf %[[DY]], %[[SX]]
// CHECK: %[[YL:.*]] = arith.mulf %[[Y]], %[[LOG]]
// CHECK: %[[DE:.*]] = arith.mulf %[[DY]], %[[YL]]
// CHECK: return %[[DX]], %[[DE]]
func.func @powf(%x: tensor<4xf32>, %e: tensor<4xf32>) {
  %0 = math.powf %x, %e : tensor<4xf32>
  return
}
