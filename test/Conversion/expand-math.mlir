// RUN: dist-opt %s --dist-expand-math | FileCheck %s

// No conversion to an integer, which would be poison on NaN.
// CHECK-LABEL: func.func @exp(
// CHECK-COUNT-9: math.fma
// CHECK-NOT:     fptosi
// CHECK:         arith.bitcast
// CHECK-COUNT-2: arith.select
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK:         %[[ROOT:.*]] = math.sqrt
// CHECK:         arith.divf %{{.*}}, %[[ROOT]]
func.func @rsqrt(%x: f64) -> f64 {
  %y = math.rsqrt %x : f64
  return %y : f64
}

// CHECK-LABEL: func.func @library(
// CHECK:         math.exp %{{.*}} : f64
// CHECK:         call @expm1f
// CHECK:         call @log1p(
// CHECK:         math.sin
func.func @library(%x: f64, %y: f32) -> (f64, f32, f64, f32) {
  %a = math.exp %x : f64
  %b = math.expm1 %y : f32
  %c = math.log1p %x : f64
  %d = math.sin %y : f32
  return %a, %b, %c, %d : f64, f32, f64, f32
}
