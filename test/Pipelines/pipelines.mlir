// RUN: dist-opt %s --dist-to-runtime="mesh=dp=2,tp=2 zero=1 optimizer=lr=1e-3,clip_norm=0.5" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: dist-opt %s --dist-to-step="optimizer=name=sgd,momentum=0.9" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=SGD
// RUN: not dist-opt %s --dist-to-step="zero=3" 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not dist-opt %s --dist-to-step="zero=7" 2>&1 | FileCheck %s --check-prefix=RANGE

// The story, in order: an inserted or moved pass shows here.
// CHECK: builtin.module(
// CHECK-NEXT: dist-verify-model{entry=loss precision=},
// CHECK-NEXT: dist-specialize-calls{constraints= entry=loss},
// CHECK-NEXT: dist-differentiate{entry=loss},
// CHECK-NEXT: dist-join-pads,
// CHECK-NEXT: dist-build-step{beta1=9.000000e-01 beta2=9.500000e-01 clip-norm=5.000000e-01 eps=1.000000e-08 momentum=0.000000e+00 optimizer=adamw weight-decay=1.000000e-01},
// CHECK-NEXT: dist-build-evaluation{entry=loss},
// CHECK-NEXT: symbol-dce,
// CHECK-NEXT: func.func(
// CHECK-NEXT: canonicalize{{.*}},
// CHECK-NEXT: cse
// CHECK-NEXT: ),
// CHECK-NEXT: dist-record-amounts,
// CHECK-NEXT: dist-apply-plan{constraints= mesh=dp=2,tp=2 },
// CHECK-NEXT: func.func(
// CHECK-NEXT: dist-decompose
// CHECK-NEXT: ),
// CHECK-NEXT: func.func(
// CHECK-NEXT: canonicalize{{.*}},
// CHECK-NEXT: cse
// CHECK-NEXT: ),
// CHECK-NEXT: dist-expose-factors,
// CHECK-NEXT: dist-propagate-shardings{zero=1},
// CHECK-NEXT: dist-verify-sharded,
// CHECK-NEXT: dist-delay-partials,
// CHECK-NEXT: dist-partition,
// CHECK-NEXT: func.func(
// CHECK-NEXT: canonicalize{{.*}},
// CHECK-NEXT: cse
// CHECK-NEXT: ),
// CHECK-NEXT: func.func(
// CHECK-NEXT: dist-combine-reductions
// CHECK-NEXT: ),
// CHECK-NEXT: dist-verify-local,
// CHECK-NEXT: dist-outline-segments,
// CHECK-NEXT: dist-lower-segments

// SGD is plain until asked: no decay.
// SGD: dist-verify-model{entry=loss precision=},
// SGD: dist-build-step{{.*}}momentum=9.000000e-01 optimizer=sgd weight-decay=0.000000e+00}
// SGD-NOT:  dist-apply-plan

// LATER: zero: stage 3 is not supported yet (supported: stages 0 and 1)
// RANGE: zero: is 7, but must lie in [0, 3]

func.func @loss(%x: tensor<8xf32> {nn.input = "x"}, %w: tensor<8xf32> {nn.param = "w"}) -> tensor<f32> {
  %l = nn.einsum "i, i ->"(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
