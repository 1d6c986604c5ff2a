// RUN: dist-opt %s --dist-test-list-lowerings -o /dev/null > %t
// RUN: FileCheck %s < %t
// RUN: grep ": none" %t | sort | FileCheck %s --check-prefix=NONE

// CHECK-DAG: dist.all_reduce: call
// CHECK-DAG: nn.einsum: kernel, call
// CHECK-DAG: nn.gelu: kernel
// CHECK-DAG: nn.rearrange: view, call
// CHECK-DAG: nn.softmax: decomposed

// An op of ours without code on the host target would show here. These are gone
// by then, and a position is read off the rank.
// NONE: dist.axis_index: none
// NONE-NEXT: dist.constraint: none
// NONE-NEXT: dist.mesh: none
// NONE-NEXT: dist.reshard: none
// NONE-NOT: none
module {}
